import { afterEach, expect, it } from '@jest/globals';
import type { CyclePorts } from '../../../src/control/cycle/types.js';
import { connectTo } from '../../../src/kubernetes/access/connection.js';
import type { Cluster } from '../../../src/kubernetes/api/types.js';
import { createCluster } from '../../../src/kubernetes/cluster.js';
import { createTransport } from '../../../src/kubernetes/requests/transport.js';
import { type Simulator, startSimulator } from '../../../src/simulator/simulator.js';
import { eventually } from '../../support/manual-clock.js';
import { settledMemory, Fixture } from '../fixture.js';

const WEB = { namespace: 'shop', name: 'web' } as const;
const TARGET = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
const HPAS = 'horizontalpodautoscalers';

/** A scaler that wants 5 replicas, on a cluster. */
class ClusterFixture extends Fixture {
  readonly stop = new AbortController();
  #cluster: Cluster | null = null;

  start(url: string): Cluster {
    const transport = createTransport({ connection: connectTo(url), clock: this.clock });
    const cluster = createCluster({ transport, namespaces: ['shop'], clock: this.clock });
    this.memory = { ...settledMemory(), uid: null };
    cluster.follow([{ namespace: 'shop', ref: TARGET }]);
    void cluster.run(this.stop.signal);
    return (this.#cluster = cluster);
  }

  override ports(): CyclePorts {
    return { ...super.ports(), ...(this.#cluster === null ? {} : { cluster: this.#cluster }) };
  }
}

const fixture = new ClusterFixture();
let simulator: Simulator | null = null;

afterEach(async () => {
  fixture.stop.abort();
  await simulator?.close();
});

it('patches nothing while the first list of HPAs fails with 500, and nothing once the list shows an HPA', async () => {
  const server = await startSimulator({ clock: fixture.clock, workloads: [{ ...WEB, replicas: 2 }] });
  simulator = server;
  server.addObject({
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: WEB,
    spec: { scaleTargetRef: TARGET, maxReplicas: 3 },
  });
  const endFault = server.faults.add({ resource: HPAS }, { kind: 'refuse', status: 500 });
  const asked = (): number => server.requests().filter(({ resource }) => resource === HPAS).length;
  const patches = (): number => server.requests().filter(({ method }) => method === 'PATCH').length;
  const cluster = fixture.start(server.url);
  await eventually(() => cluster.isSynced() && asked() > 0, 'the first lists');
  await fixture.clock.advanceAndSettle(1000);

  for (let cycle = 0; cycle < 3; cycle += 1) {
    const { record } = await fixture.nextCycle();
    expect(record.conditions).toContainEqual(
      expect.objectContaining({ status: 'False', message: expect.stringMatching(/horizontalpod.*500/) }),
    );
  }
  expect(patches()).toBe(0);

  endFault();
  // The list is retried within ten seconds.
  for (let second = 0; second < 20; second += 1) await fixture.clock.advanceAndSettle(1000);
  const { record } = await fixture.nextCycle();
  expect(record.conditions).toContainEqual(expect.objectContaining({ reason: 'ConflictingScaler' }));
  expect(patches()).toBe(0);
});
