import { createDeletionCosts, type DeletionCosts } from '../../../src/control/cycle/deletion-costs.js';
import { createBusyBuckets } from '../../../src/control/sharding/own-buckets.js';
import type { Memory } from '../../../src/control/memory/memory.js';
import type { CycleOutput } from '../../../src/control/cycle/types.js';
import { createCluster } from '../../../src/kubernetes/cluster.js';
import { connectTo } from '../../../src/kubernetes/access/connection.js';
import { stateInMemory } from '../../../src/kubernetes/state/state-store.js';
import { createTransport } from '../../../src/kubernetes/requests/transport.js';
import type { Answer } from '../../../src/prometheus/answers/answer.js';
import { objectAt } from '../../../src/simulator/kinds/json.js';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../../src/simulator/simulator.js';
import type { Facts } from '../../../src/units/log.js';
import { eventually, ManualClock } from '../../support/manual-clock.js';
import { answerAndRun, type WaitingCycle } from '../run-cycle.js';
import { answerOf, answersFrom, buildScaler, settledMemory } from '../fixture.js';

export const WEB = { namespace: 'shop', name: 'web' } as const;
export const COST = 'controller.kubernetes.io/pod-deletion-cost';
export const OWN = 'promscaler.dev/deletion-cost';
export const RANKED = { podDeletionCost: { query: 'sum by (pod) (load)' } };
const TARGET = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };

/** Returns series by pod, as a ranking query does. */
export function rankingOf(values: Readonly<Record<string, number>>): Answer {
  const series = Object.entries(values).map(([pod, value]) => ({
    labels: { namespace: 'shop', pod },
    value,
  }));
  return { class: 'value', series, evaluatedAt: new ManualClock().now() };
}

/** One promscaler on a simulated cluster with Deployment `shop/web` of 5 ready pods. */
export class CostFixture {
  readonly clock: ManualClock;
  readonly simulator: Simulator;
  readonly warnings: { readonly message: string; readonly facts: Facts | undefined }[] = [];
  readonly #stop = new AbortController();
  readonly #cluster: ReturnType<typeof createCluster>;
  readonly #busy = createBusyBuckets();
  #costs: DeletionCosts;
  #memory: Memory = { ...settledMemory(), uid: null };

  private constructor(clock: ManualClock, simulator: Simulator, token: string | null) {
    this.clock = clock;
    this.simulator = simulator;
    const connection = connectTo(simulator.url);
    const authorization = (): Promise<string | null> =>
      Promise.resolve(token === null ? null : `Bearer ${token}`);
    const transport = createTransport({ connection: { ...connection, authorization }, clock });
    this.#cluster = createCluster({ transport, namespaces: ['shop'], clock });
    this.#costs = this.#createCosts();
  }

  static async create(
    options: Partial<SimulatorOptions> = {},
    token: string | null = null,
  ): Promise<CostFixture> {
    const clock = new ManualClock();
    const simulator = await startSimulator({ clock, workloads: [{ ...WEB, replicas: 5 }], ...options });
    const fixture = new CostFixture(clock, simulator, token);
    fixture.#cluster.follow([{ namespace: 'shop', ref: TARGET }]);
    void fixture.#cluster.run(fixture.#stop.signal);
    await eventually(() => fixture.#cluster.isSynced(), 'the first lists');
    return fixture;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.simulator.close();
  }

  /** Replaces the process by a new one without any memory. */
  crash(): void {
    this.#costs = this.#createCosts();
    this.#memory = { ...settledMemory(), uid: null };
  }

  /** Runs one cycle that wants this count. */
  async cycle(
    replicas: number,
    options: {
      readonly spec?: Readonly<Record<string, unknown>>;
      readonly ranking?: Answer | Promise<Answer> | null;
      readonly input?: Partial<WaitingCycle>;
    } = {},
  ): Promise<CycleOutput> {
    const now = this.clock.now();
    const { spec = RANKED, ranking = null } = options;
    const answers = answersFrom([answerOf(replicas * 10, now)]);
    const output = await answerAndRun(
      {
        scaler: buildScaler(spec),
        memory: this.#memory,
        now,
        answers: { ...answers, ranking: async () => ranking },
        ...options.input,
      },
      {
        clock: this.clock,
        cluster: this.#cluster,
        recoveryHoldMaxSeconds: 0,
        dryRun: false,
        state: stateInMemory(),
        deletionCosts: this.#costs,
        takeSlot: () => Promise.resolve(() => undefined),
      },
    );
    this.#memory = output.memory;
    await this.#busy.untilAllIdle();
    return output;
  }

  /** Lets the controllers of the cluster and the watches run for some seconds. */
  async pass(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second += 1) await this.clock.advanceAndSettle(1000);
    await this.watched();
  }

  /** Waits until the watches have the state of the server. */
  async watched(): Promise<void> {
    const shown = (): string =>
      JSON.stringify(
        this.#cluster.podCosts
          .list('shop', [])
          .map(({ pod, resourceVersion }) => [pod.name, resourceVersion]),
      );
    const there = (): string =>
      JSON.stringify(
        [...this.simulator.listObjects('/pods', 'shop')]
          .map(({ metadata }) => [metadata.name, metadata.resourceVersion])
          .sort(([a = ''], [b = '']) => (a < b ? -1 : 1)),
      );
    await eventually(() => shown() === there(), 'the pods in the watch');
  }

  /** Returns the names of the pods that are not being deleted. */
  pods(): readonly string[] {
    return this.simulator.describe(WEB).pods;
  }

  /** Returns the annotations by pod, of pods that have any. */
  annotations(): Readonly<Record<string, unknown>> {
    const all = this.simulator
      .listObjects('/pods', 'shop')
      .map((pod) => [pod.metadata.name, objectAt(pod, 'metadata')['annotations'] ?? {}] as const);
    return Object.fromEntries(all.filter(([, written]) => Object.keys(written).length > 0));
  }

  /** Annotates as a user does with `kubectl annotate`. */
  async annotate(
    pod: string,
    annotations: Readonly<Record<string, string | null>>,
    isSeen = true,
  ): Promise<void> {
    const response = await fetch(`${this.simulator.url}/api/v1/namespaces/shop/pods/${pod}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json', authorization: 'Bearer admin' },
      body: JSON.stringify({ metadata: { annotations } }),
    });
    if (!response.ok) throw new Error(await response.text());
    if (isSeen) await this.watched();
  }

  /** Counts the PATCHes of pods that promscaler has sent. */
  podPatches(): number {
    return this.simulator.requests().filter(({ method, path, userAgent }) => {
      return method === 'PATCH' && path.includes('/pods/') && userAgent.startsWith('promscaler');
    }).length;
  }

  #createCosts(): DeletionCosts {
    const silent = (): void => undefined;
    return createDeletionCosts({
      clock: this.clock,
      podCosts: this.#cluster.podCosts,
      track: (_, work) => this.#busy.track(0, work),
      log: {
        error: silent,
        warn: (message, facts) => void this.warnings.push({ message, facts }),
        info: silent,
        debug: silent,
      },
      dryRun: false,
    });
  }
}
