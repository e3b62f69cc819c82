import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import '../../../src/cli/running/run-service.js';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { startSimulator } from '../../../src/simulator/simulator.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { eventually } from '../../support/manual-clock.js';
import { until } from '../../support/until.js';
import { folderOf, runCli } from '../fake-io.js';
import type { Ran } from '../fake-io.js';

jest.setTimeout(60_000);

const DOCUMENT = `
apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: web, namespace: shop }
spec:
  scaleTargetRef: { name: web }
  maxReplicas: 5
  metrics:
    - { type: External, external: { metric: { name: m }, query: sum(m), target: { type: Value, value: 1 } } }
`;

interface Replica {
  readonly stderr: () => string;
  readonly url: () => string;
  readonly stop: () => Promise<Ran>;
}

let simulator: Simulator;

beforeEach(async () => {
  simulator = await startSimulator({
    clock: SYSTEM_CLOCK,
    namespaces: ['monitoring', 'shop'],
    workloads: [{ namespace: 'shop', name: 'web', replicas: 3 }],
  });
});

afterEach(() => simulator.close());

function start(name: string): Replica {
  const cwd = folderOf({
    'promscaler.yaml': `
kubernetes: { url: '${simulator.url}' }
prometheus: { default: { urls: ['http://127.0.0.1:9'] } }
server: { port: 0 }
defaults: { syncPeriodSeconds: 1 }
leaderElection: { enabled: true, leaseDurationSeconds: 4, renewDeadlineSeconds: 3, retryPeriodSeconds: 1 }
`,
    'scalers/web.yaml': DOCUMENT,
  });
  const written = { stdout: '', stderr: '' };
  const stop = new AbortController();
  const env = { POD_NAMESPACE: 'monitoring', POD_NAME: name, POD_IP: '127.0.0.1' };
  const ended = runCli(['run', '--config', 'promscaler.yaml'], { cwd, env, signal: stop.signal, written });
  return {
    stderr: () => written.stderr,
    url: () => /"url":"(http:[^"]+)"/.exec(written.stderr)?.[1] ?? 'http://127.0.0.1:9',
    stop: () => {
      stop.abort();
      return ended;
    },
  };
}

async function read(replica: Replica, path: string): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${replica.url()}${path}`);
  return { status: response.status, body: await response.json() };
}

describe('a standby', () => {
  it('answers with the scalers, decisions and events of the leader', async () => {
    const leader = start('promscaler-0');
    await eventually(() => leader.stderr().includes('"leading"'), 'a leader');
    const standby = start('promscaler-1');
    await eventually(() => standby.stderr().includes('"listening"'), 'the standby');

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
      rows: [{ name: 'web', states: ['failing'] }],
    });
    expect((await read(standby, '/api/v1/service')).body).toMatchObject({
      replicas: [{ scalers: 0 }, { scalers: 1, isReachable: true }],
      rounds: { last: { scalers: 1 } },
    });

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
