import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { startSimulator } from '../../../src/simulator/simulator.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { fastClock } from '../../support/fast-clock.js';
import { eventually } from '../../support/manual-clock.js';
import { until } from '../../support/until.js';
import { EXTERNAL_METRIC, scalerYaml } from '../../support/scaler-yaml.js';
import { type StartedRun, startRun } from './start-run.js';

let simulator: Simulator;

beforeEach(async () => {
  simulator = await startSimulator({
    clock: SYSTEM_CLOCK,
    namespaces: ['monitoring', 'shop'],
    workloads: [{ namespace: 'shop', name: 'web', replicas: 3 }],
  });
});

afterEach(() => simulator.close());

function start(name: string): StartedRun {
  const config = `
kubernetes: { url: '${simulator.url}' }
prometheus: { default: { urls: ['http://127.0.0.1:9'] } }
server: { port: 0, peerKeyFile: peer-key }
defaults: { syncPeriodSeconds: 1 }
leaderElection: { enabled: true, leaseDurationSeconds: 4, renewDeadlineSeconds: 3, retryPeriodSeconds: 1 }
`;
  const document = scalerYaml({ maxReplicas: 5, metrics: [EXTERNAL_METRIC] });
  const env = { POD_NAMESPACE: 'monitoring', POD_NAME: name, POD_IP: '127.0.0.1' };
  const files = {
    'promscaler.yaml': config,
    'scalers/web.yaml': document,
    'scalers/broken.yaml': document
      .replace('name: web', 'name: broken')
      .replace('maxReplicas', 'mostReplicas'),
    'peer-key': 'k'.repeat(32),
  };
  return startRun(files, env, { ...fastClock(5), random: SYSTEM_CLOCK.random });
}

async function read(replica: StartedRun, path: string): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${replica.url()}${path}`);
  return { status: response.status, body: await response.json() };
}

async function statesOf(replica: StartedRun): Promise<readonly string[]> {
  const page = await (await fetch(`${replica.url()}/metrics`)).text();
  return Array.from(page.matchAll(/^promscaler_scaler_state(\{.*)$/gm), ([, series = '']) => series);
}

describe('a standby', () => {
  it('answers with the scalers, decisions and events of the leader, and exposes no states', async () => {
    const leader = start('promscaler-0');
    await eventually(() => leader.written.stderr.includes('"leading"'), 'a leader');
    const standby = start('promscaler-1');
    await eventually(() => standby.written.stderr.includes('"listening"'), 'the standby');

    const hasRow = { leader: true, unreachable: [], items: [{ namespace: 'shop', name: 'web' }] };
    await until(async () => {
      const { body } = await read(standby, '/api/v1/scalers');
      return JSON.stringify(body).includes('"leader":true,') && JSON.stringify(body).includes('"web"');
    });
    expect((await read(standby, '/api/v1/scalers')).body).toMatchObject(hasRow);
    expect(await read(standby, '/api/v1/scalers/shop/web')).toMatchObject({ status: 200 });
    expect((await read(standby, '/api/v1/overview')).body).toMatchObject({
      leader: true,
      unreachable: [],
      rows: [
        { name: 'broken', state: { name: 'Invalid' } },
        { name: 'web', state: { severity: 'cannot-follow' } },
      ],
    });
    expect((await read(standby, '/api/v1/service')).body).toMatchObject({
      replicas: [{ scalers: 0 }, { scalers: 1, isReachable: true }],
      rounds: { last: { scalers: 1 } },
    });

    expect(await statesOf(leader)).toEqual([
      '{namespace="shop",scaler="web",state="NoData",severity="cannot-follow"} 1',
      '{namespace="shop",scaler="broken",state="Invalid",severity="cannot-follow"} 1',
    ]);
    expect(await statesOf(standby)).toEqual([]);

    const stream = new AbortController();
    const { body } = await fetch(`${standby.url()}/api/v1/events`, { signal: stream.signal });
    const chunks: ReadableStream<Uint8Array> | null = body;
    const reader = chunks?.getReader();
    let text = new TextDecoder().decode((await reader?.read())?.value);
    expect(text).toMatch(/^id: [\w-]{6}\.[\w-]+~[\w-]{6}\.[\w-]+$/m);
    simulator.setReplicas({ namespace: 'shop', name: 'web' }, 0);
    while (!text.includes('"subject":"ScalingActive","failing":false'))
      text += new TextDecoder().decode((await reader?.read())?.value);
    stream.abort();

    await Promise.all([leader.stop(), standby.stop()]);
  });
});
