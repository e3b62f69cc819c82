import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { ServiceProcess } from './service-process.js';
import { CLI, E2E_TIMEOUT_MS, cpuDocument, startFixture, waitFor } from './fixture.js';
import type { Fixture } from './fixture.js';

jest.setTimeout(E2E_TIMEOUT_MS);

const run = promisify(execFile);

describe('a workload whose 2 pods request more cpu than any node has', () => {
  let fixture: Fixture;
  let service: ServiceProcess;

  beforeAll(async () => {
    fixture = await startFixture([
      { name: 'web', replicas: 2, load: 1 },
      { name: 'huge', replicas: 2, load: 0, isTooLarge: true },
    ]);
    for (const name of ['web', 'huge'])
      await fixture.writeDocument(`${name}.yaml`, cpuDocument(fixture, name));
    service = await fixture.startService();
  });

  afterAll(() => fixture.close());

  const cli = async (...args: readonly string[]): Promise<string> =>
    (await run(process.execPath, [CLI, ...args, '--url', service.url])).stdout;

  it('does not reach its target: metric, explain, status and one Event report it, and none of them reports web', async () => {
    await waitFor(
      async () =>
        (await service.metrics('promscaler_condition{', 'scaler="huge"', 'type="TargetReached"', '} 1'))
          .length > 0,
      { what: 'the condition of huge' },
    );
    const of = (scaler: string): Promise<readonly string[]> =>
      service.metrics('promscaler_condition{', `scaler="${scaler}"`, 'type="TargetReached"');
    const [huge, ...more] = await waitFor(
      async () => {
        const lines = await of('huge');
        return lines.some((line) => line.includes('reason="Unschedulable"')) && lines;
      },
      { what: 'Unschedulable' },
    );
    expect(huge).toMatch(/status="False".*\} 1$/);
    expect(more).toEqual([]);
    await waitFor(async () => (await of('web')).some((line) => line.includes('reason="Reached"')), {
      what: 'Reached of web',
    });

    const explained = await cli('explain', `${fixture.namespace}/huge`);
    expect(explained).toMatch(
      /TargetReached +False .*Unschedulable: 0 of 2 pods are ready: 2 unschedulable because of cpu/,
    );
    expect(await cli('explain', `${fixture.namespace}/web`)).toMatch(/TargetReached +True .*Reached/);
    const rows = (await cli('status', '-o', 'wide')).split('\n');
    expect(rows.find((row) => / huge /.test(row))).toContain('PodsNotReady');
    expect(rows.find((row) => / web /.test(row))).not.toContain('PodsNotReady');

    await waitFor(async () => (await fixture.events()).includes('Unschedulable'), {
      what: 'the Event',
      seconds: 10,
    });
    expect(await fixture.changes('huge')).toBe(0);
    expect(await service.stop()).toBe(0);
  });
});
