import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, jest } from '@jest/globals';
import { CLI, E2E_TIMEOUT_MS, cpuDocument, itWhereAble, startFixture, waitFor } from './fixture.js';
import type { Fixture } from './fixture.js';

jest.setTimeout(E2E_TIMEOUT_MS);

const run = promisify(execFile);

describe('a pause on the command line while the service runs', () => {
  let fixture: Fixture;

  beforeAll(async () => {
    fixture = await startFixture([{ name: 'web', replicas: 2, load: 1 }]);
    await fixture.writeDocument('web.yaml', cpuDocument(fixture, 'web'));
  });

  afterAll(() => fixture.close());

  itWhereAble(
    'pause',
    'keeps 2 replicas while the load needs 10, reports that, and releases them on resume',
    async () => {
      const service = await fixture.startService();
      await waitFor(async () => (await service.metrics('promscaler_metric_value{', 'cpu')).length > 0, {
        what: 'a first value of cpu',
      });
      const cli = (...args: readonly string[]): Promise<{ stdout: string }> =>
        run(process.execPath, [CLI, ...args, '--url', service.url, '--kubeconfig', fixture.kubeconfig]);
      const scaler = `${fixture.namespace}/web`;

      const paused = await cli('pause', scaler, '--for', '1h', '--reason', 'a test');
      expect(paused.stdout).toContain(`${scaler} is paused until `);
      await waitFor(async () => (await service.metrics('promscaler_paused{', '} 1')).length === 1, {
        what: 'the pause to be seen',
        seconds: 10,
      });
      fixture.setLoad('web', 6);
      await waitFor(async () => (await desired(service)) > 2, { what: 'a decision for more than 2' });

      const status = await cli('status');
      expect(status.stdout).toMatch(/ Paused +\S+ +by annotation; a test \((59m\d+s|1h) left\)/);
      const explained = await cli('explain', scaler);
      expect(explained.stdout).toMatch(/Paused +scaling is paused by annotation until .*; a test/);
      expect(explained.stdout).toMatch(/Outcome: paused 2 -> \d+/);
      expect(await fixture.changes('web')).toBe(0);

      const resumed = await cli('resume', scaler);
      expect(resumed.stdout).toContain(`${scaler} is resumed`);
      await waitFor(async () => (await fixture.replicas('web')) > 2, { what: 'a scale-up', seconds: 10 });
      await waitFor(async () => (await fixture.events()).includes('ScalingResumed'), {
        what: 'the Event of its end',
        seconds: 10,
      });
      expect(await service.stop()).toBe(0);
    },
  );
});

async function desired({ metrics }: Awaited<ReturnType<Fixture['startService']>>): Promise<number> {
  const [line = ''] = await metrics('promscaler_desired_replicas{');
  return Number(line.split(' ').at(-1));
}
