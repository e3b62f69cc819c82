import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { CLI } from './service-process.js';
import { E2E_TIMEOUT_MS, waitFor } from './waiting.js';
import { cpuDocument, startFixture } from './fixture.js';
import type { Fixture } from './fixture.js';

jest.setTimeout(E2E_TIMEOUT_MS);

describe('documents that change while the service runs', () => {
  let fixture: Fixture;

  beforeAll(async () => {
    fixture = await startFixture([
      { name: 'web', replicas: 3, load: 2 },
      { name: 'api', replicas: 3, load: 2 },
    ]);
  });

  afterAll(() => fixture.close());

  it('rejects only an invalid one, keeps its last valid version, and applies a valid one within 15 s', async () => {
    await fixture.writeDocument('web.yaml', cpuDocument(fixture, 'web'));
    await fixture.writeDocument('bad.yaml', cpuDocument(fixture, 'api').replace('maxReplicas', 'maxReplica'));
    const service = await fixture.startService();
    await waitFor(() => service.output().includes('did you mean'), { what: 'the problem in the log' });
    expect(service.output()).toContain('maxReplica');
    expect(service.output()).not.toMatch(/\bat .*\.js:\d+/);
    await waitFor(
      async () => (await service.metrics('promscaler_current_replicas{', 'scaler="web"')).length === 1,
      {
        what: 'the valid document to be in effect',
      },
    );
    expect(await service.metrics('promscaler_current_replicas{', 'scaler="api"')).toEqual([]);
    expect(await service.metrics('promscaler_config_problems')).toContain('promscaler_config_problems 1');

    await fixture.writeDocument(
      'bad.yaml',
      cpuDocument(fixture, 'api').replace('minReplicas: 2', 'minReplicas: 5'),
    );
    await waitFor(async () => (await fixture.replicas('api')) === 5, {
      what: 'the minimum of 5 after the fix',
      seconds: 15,
    });

    await fixture.writeDocument('web.yaml', 'spec: [broken');
    await waitFor(async () => (await service.metrics('promscaler_config_problems 1')).length === 1, {
      what: 'the broken document to be noticed',
      seconds: 15,
    });
    expect(await service.metrics('promscaler_current_replicas{', 'scaler="web"')).toHaveLength(1);

    await fixture.writeDocument('web.yaml', cpuDocument(fixture, 'web', '  paused: true\n'));
    await waitFor(
      async () => (await service.metrics('promscaler_paused{', 'scaler="web"', '} 1')).length === 1,
      {
        what: 'the pause to hold',
        seconds: 15,
      },
    );

    await fixture.removeDocument('web.yaml');
    await waitFor(async () => (await service.metrics('scaler="web"')).length === 0, {
      what: 'the series of the removed scaler to go',
      seconds: 15,
    });
    expect(await fixture.replicas('web')).toBeGreaterThanOrEqual(2);
    expect(service.output()).toContain('scaler removed; its workload keeps its replicas');
    expect(await service.stop()).toBe(0);
  });

  it('exits with 1 and prints all problems if the service config is invalid, without starting', async () => {
    const file = join(fixture.folder, 'wrong.yaml');
    await writeFile(
      file,
      'prometheus: { default: { urls: [ftp://x], timeoutSecond: 3 } }\nserver: { port: 99999 }\n',
    );

    const { status, stderr, stdout } = spawnSync(process.execPath, [CLI, 'run', '--config', file], {
      encoding: 'utf8',
    });

    expect(status).toBe(1);
    for (const text of ['timeoutSecond', 'timeoutSeconds', 'port', 'urls[0]']) expect(stderr).toContain(text);
    expect(stderr).not.toMatch(/\bat .*\.js:\d+/);
    expect(stdout).toBe('');
  });
});
