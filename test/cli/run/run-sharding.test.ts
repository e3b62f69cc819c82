import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { startSimulator } from '../../../src/simulator/simulator.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import type { Clock } from '../../../src/units/clock.js';
import { fastClock } from '../../support/fast-clock.js';
import { eventually } from '../../support/manual-clock.js';
import { until } from '../../support/until.js';
import { EXTERNAL_METRIC, scalerYaml } from '../../support/scaler-yaml.js';
import { type StartedRun, startRun } from './start-run.js';

const PEER_KEY = 'k'.repeat(32);
const NAMES = ['api', 'cart', 'web', 'worker'];
const DOCUMENTS = NAMES.map((name) =>
  scalerYaml({ name, minReplicas: 1, maxReplicas: 5, metrics: [EXTERNAL_METRIC] }),
).join('---\n');

interface Replica extends StartedRun {
  readonly page: (path: string) => Promise<{ readonly status: number; readonly body: unknown }>;
}

let simulator: Simulator;
/** It stops while the process gets no processor time, so that no Lease expires on a busy machine. */
let clock: Clock;

beforeEach(async () => {
  // Replicas draw their names.
  clock = { ...fastClock(5), random: SYSTEM_CLOCK.random };
  simulator = await startSimulator({ clock: SYSTEM_CLOCK, namespaces: ['monitoring', 'shop'] });
});

afterEach(() => simulator.close());

function start(name: string): Replica {
  const config = `
kubernetes: { url: '${simulator.url}' }
prometheus: { default: { urls: ['http://127.0.0.1:9'] } }
server: { port: 0, peerKeyFile: peer-key }
sharding: { enabled: true }
`;
  const env = { POD_NAMESPACE: 'monitoring', POD_NAME: name };
  const run = startRun(
    { 'promscaler.yaml': config, 'scalers/all.yaml': DOCUMENTS, 'peer-key': PEER_KEY },
    env,
    clock,
  );
  return {
    ...run,
    page: async (path) => {
      try {
        const answer = await fetch(`${run.url()}${path}`);
        return { status: answer.status, body: await answer.json() };
      } catch {
        return { status: 0, body: null };
      }
    },
  };
}

interface List {
  readonly leader: boolean;
  readonly unreachable: readonly string[];
  readonly items: readonly { readonly name: string }[];
}

async function listOf(replica: Replica): Promise<List | null> {
  return (await replica.page('/api/v1/scalers')).body as List | null;
}

async function listsAll(replica: Replica): Promise<boolean> {
  const list = await listOf(replica);
  return list?.leader === true && list.items.map(({ name }) => name).join() === NAMES.join();
}

function detailsOf(replicas: readonly Replica[]): Promise<readonly { readonly status: number }[]> {
  return Promise.all(
    replicas.flatMap((replica) => NAMES.map((name) => replica.page(`/api/v1/scalers/shop/${name}`))),
  );
}

describe('run, with sharding.enabled', () => {
  it('every replica answers for all scalers, each of which one of them decides, also after one has stopped', async () => {
    const replicas = [start('promscaler-0'), start('promscaler-1'), start('promscaler-2')];
    for (const replica of replicas) await until(() => listsAll(replica));
    // Some buckets still move while the replicas join.
    await until(async () => (await detailsOf(replicas)).every(({ status }) => status === 200));
    await until(
      () => replicas.every(({ written }) => written.stderr.includes('"took over buckets"')),
      'buckets of each replica',
    );

    expect((await replicas[0]?.stop())?.exitCode).toBe(0);
    const [, second, third] = replicas;
    if (second === undefined || third === undefined) throw new Error('there are three replicas');
    await until(() => listsAll(second));
    await until(() => listsAll(third));
    await Promise.all([second.stop(), third.stop()]);
    const leases = simulator.requests().filter(({ resource }) => resource === 'leases');
    const failed = leases.filter(({ code }) => code === null || code >= 400);
    // There is no Lease of a leader. On a busy machine, a Lease of 1 s can end before its renewal, which then conflicts.
    const expected = ({ verb, code, name }: (typeof failed)[number]): boolean =>
      `${verb} ${code} ${name}` === 'get 404 promscaler' || `${verb} ${code}` === 'update 409';
    expect(failed.filter((request) => !expected(request))).toEqual([]);
  });

  it('exits where the server forbids it to create its Lease, and names the permission', async () => {
    simulator.faults.add({ resource: 'leases', verbs: ['create'] }, { kind: 'refuse', status: 403 });
    const replica = start('promscaler-0');
    await eventually(() => replica.written.stderr.includes('verb create on leases'), 'refused');

    const { exitCode } = await replica.stop();

    expect(exitCode).toBe(1);
  });
});
