import { closeSync, openSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { CLI } from '../../e2e/service-process.js';
import { E2E_TIMEOUT_MS, waitFor } from '../../e2e/waiting.js';
import { startStand } from './stand.js';
import type { Installation, ProxiedReplica, Stand } from './stand.js';

jest.setTimeout(E2E_TIMEOUT_MS);

/** A process may buffer up to 1 MiB of its log; a pipe holds 64 KiB of it. */
const DEBUG = 'log: { level: debug }\n';

describe('a service whose log breaks', () => {
  let stand: Stand;
  const targets = ['gone', 'stuck', 'full'].map((name) => ({ name, replicas: 2 }));

  beforeAll(async () => {
    stand = await startStand();
  });

  afterAll(() => stand.close());

  const install = async (name: string): Promise<Installation> =>
    stand.install({ namespace: `log-${name}`, targets: targets.filter((target) => target.name === name) });

  /** Sets a load, and waits until the service has scaled to it. */
  const expectToScale = async (name: string, service: ProxiedReplica): Promise<void> => {
    const replicas = (): number => stand.simulator.describe({ namespace: `log-${name}`, name }).replicas;
    stand.source.set(name, 4);
    await waitFor(() => replicas() === 4, { what: `4 replicas of ${name}` });
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
    expect(service.hasEnded()).toBe(false);
  };

  it('continues to scale when the reader of the log closes it (EPIPE)', async () => {
    const service = await (await install('gone')).startReplica({ config: DEBUG });
    await service.listening();
    service.log.destroy();

    await expectToScale('gone', service);
    expect(await service.end()).toBe(0);
  });

  it('continues to scale when the reader of the log stops reading', async () => {
    const service = await (await install('stuck')).startReplica({ config: DEBUG });
    await service.listening();
    service.log.pause();

    await expectToScale('stuck', service);
  });

  it('continues to scale when the log goes to a full disk (ENOSPC)', async () => {
    const logTo = openSync('/dev/full', 'w');
    const service = await (await install('full')).startReplica({ config: DEBUG, logTo });
    closeSync(logTo);
    await service.listening();

    await expectToScale('full', service);
    expect(await service.end()).toBe(0);
  });
});

describe('a command whose output goes to a full disk', () => {
  it('reports that and exits with 1', () => {
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(process.execPath, [CLI, 'schema'], {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    });
    closeSync(full);

    expect(status).toBe(1);
    expect(stderr).toContain('writing to standard output: ENOSPC');
  });
});
