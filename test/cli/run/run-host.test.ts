import { platform } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { startSimulator } from '../../../src/simulator/simulator.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { eventually } from '../../support/manual-clock.js';
import { startRun } from './start-run.js';

const IN_CLUSTER = { KUBERNETES_SERVICE_HOST: '10.0.0.1', POD_NAMESPACE: 'monitoring' };
/** Linux has all of 127.0.0.0/8 on its loopback. */
const OTHER_ADDRESS = '127.0.0.2';

let simulator: Simulator;

beforeEach(async () => {
  simulator = await startSimulator({ clock: SYSTEM_CLOCK, namespaces: ['monitoring'] });
});

afterEach(() => simulator.close());

/** Returns the addresses of the two that `run` answers on. */
async function addressesOf(host: string, env: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const config = `kubernetes: { url: '${simulator.url}' }\nserver: { port: 0${host} }\nleaderElection: { enabled: false }\n`;
  const run = startRun({ 'promscaler.yaml': config, 'scalers/none.yaml': '' }, env);
  try {
    const port = (): string | undefined => /"url":"http:[^"]+:(\d+)"/.exec(run.written.stderr)?.[1];
    await eventually(() => port() !== undefined, 'listening');
    const answers = await Promise.all(
      ['127.0.0.1', OTHER_ADDRESS].map(async (address) => {
        const isThere = await fetch(`http://${address}:${port() ?? ''}/healthz`).then(
          ({ ok }) => ok,
          () => false,
        );
        return isThere ? [address] : [];
      }),
    );
    return answers.flat();
  } finally {
    await run.stop();
  }
}

(platform() === 'linux' ? describe : describe.skip)('server.host', () => {
  it('the host is 127.0.0.1 by default outside a cluster', async () => {
    expect(await addressesOf('', {})).toEqual(['127.0.0.1']);
  });

  it('the host is every address by default in a pod', async () => {
    expect(await addressesOf('', IN_CLUSTER)).toEqual(['127.0.0.1', OTHER_ADDRESS]);
  });

  it.each([
    ['0.0.0.0', {}, ['127.0.0.1', OTHER_ADDRESS]],
    [OTHER_ADDRESS, IN_CLUSTER, [OTHER_ADDRESS]],
  ] as const)('the host is %s if configured', async (host, env, addresses) => {
    expect(await addressesOf(`, host: '${host}'`, env)).toEqual(addresses);
  });
});
