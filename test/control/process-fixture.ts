import { freshMemory } from '../../src/control/memory/memory.js';
import type { Leadership } from '../../src/control/election/leadership.js';
import type { Memory } from '../../src/control/memory/memory.js';
import type { CycleOutput, CyclePorts } from '../../src/control/cycle/types.js';
import { SILENT_LOG } from '../../src/units/log.js';
import { METHODS } from '../../src/kubernetes/requests/transport.js';
import { createStateStore, stateInMemory } from '../../src/kubernetes/state/state-store.js';
import type { StateStore } from '../../src/kubernetes/state/state-store.js';
import type { Cluster } from '../../src/kubernetes/api/types.js';
import type { Scaler } from '../../src/scaler/spec.js';
import type { Instant } from '../../src/units/time.js';
import { ManualClock } from '../support/manual-clock.js';
import { FakeCluster } from './fake-cluster.js';
import { FakeStateMaps } from './fake-state-maps.js';
import { answerAndRun } from './run-cycle.js';
import { answerOf, answersFrom, buildScaler } from './fixture.js';

/** A request of a process that waits for the schedule. */
export interface PendingRequest {
  readonly process: ScalingProcess;
  /** `GET scale`, `PATCH scale`, `GET state`, `PATCH state`. */
  readonly name: string;
  /** Applies it on the server; the process gets no answer before `answer`. */
  readonly apply: () => void;
  readonly answer: () => void;
}

/** A change of replicas that the server accepted. */
export interface Accepted {
  readonly at: Instant;
  readonly from: number;
  readonly to: number;
}

/** An API server with Deployment `shop/web` (5 replicas) and the ConfigMaps of state; the load wants the maximum. */
export class SharedServer {
  readonly clock = new ManualClock();
  readonly cluster = new FakeCluster();
  readonly maps = new FakeStateMaps();
  readonly accepted: Accepted[] = [];
  pending: PendingRequest[] = [];
  /** Processes whose requests pass at once. */
  readonly isFree = new Set<ScalingProcess>();

  constructor() {
    this.cluster.onAccepted = ({ from, to }) => this.accepted.push({ at: this.clock.now(), from, to });
  }

  /** Sends a request to the schedule. */
  request<T>(process: ScalingProcess, name: string, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      let result: Promise<T> | null = null;
      const apply = (): void => {
        result ??= work();
        result.catch(() => undefined);
      };
      const answer = (): void => {
        apply();
        result?.then(resolve, reject);
      };
      if (this.isFree.has(process)) answer();
      else this.pending.push({ process, name, apply, answer });
    });
  }

  /** Removes one pending request from the schedule. */
  take(index: number): PendingRequest {
    const [request] = this.pending.splice(index, 1);
    if (request === undefined) throw new Error(`there is no request ${index}`);
    return request;
  }
}

/** One process of promscaler that believes it leads: the real cycle with the real store. */
export class ScalingProcess {
  memory: Memory;
  load = 1000;
  readonly outputs: CycleOutput[] = [];
  readonly #server: SharedServer;
  readonly #scaler: Scaler;
  readonly #ports: CyclePorts;
  readonly #store: StateStore;
  readonly #leadership: Leadership;

  constructor(
    server: SharedServer,
    options: {
      readonly epoch: string;
      readonly spec: Readonly<Record<string, unknown>>;
      readonly hasStore?: boolean;
    },
  ) {
    const { clock } = server;
    this.#server = server;
    this.#scaler = buildScaler(options.spec);
    this.memory = freshMemory(clock.now(), null);
    const leadership = { epoch: () => options.epoch, mayWrite: () => true, whyNoWrites: () => null };
    const transport = {
      request: (request: Parameters<FakeStateMaps['request']>[0]) =>
        server.request(this, `${METHODS[request.verb]} state`, () => server.maps.request(request)),
      openWatch: server.maps.openWatch,
      close: server.maps.close,
    };
    this.#leadership = leadership;
    const storeOptions = { transport, namespace: 'promscaler', clock, log: SILENT_LOG, leadership };
    this.#store = options.hasStore === false ? stateInMemory() : createStateStore(storeOptions);
    this.#ports = {
      clock,
      cluster: this.#cluster(),
      recoveryHoldMaxSeconds: 0,
      dryRun: false,
      state: this.#store,
      takeSlot: () => Promise.resolve(() => undefined),
    };
  }

  async cycle(): Promise<CycleOutput> {
    const now = this.#server.clock.now();
    const output = await answerAndRun(
      {
        scaler: this.#scaler,
        memory: this.memory,
        now,
        answers: answersFrom([answerOf(this.load, now)]),
        leadership: this.#leadership,
      },
      this.#ports,
    );
    this.memory = output.memory;
    this.outputs.push(output);
    return output;
  }

  /** Stores unsaved state, as at a graceful stop. */
  flush(): Promise<void> {
    return this.#store.flush();
  }

  /** Watched objects are available at once; live requests go through the schedule. */
  #cluster(): Cluster {
    const { cluster } = this.#server;
    const gate = <T>(name: string, work: () => Promise<T>): Promise<T> =>
      this.#server.request(this, name, work);
    return {
      run: cluster.run,
      follow: cluster.follow,
      isSynced: cluster.isSynced,
      isListing: cluster.isListing,
      readTarget: cluster.readTarget,
      listPods: cluster.listPods,
      cacheAgeSeconds: cluster.cacheAgeSeconds,
      recordEvent: cluster.recordEvent,
      tryScale: cluster.tryScale,
      areOtherScalersOutdated: cluster.areOtherScalersOutdated,
      listOtherScalers: cluster.listOtherScalers,
      readScale: () => gate('GET scale', () => cluster.readScale()),
      patchScale: (namespace, ref, change, signal) =>
        gate('PATCH scale', () => cluster.patchScale(namespace, ref, change, signal)),
    };
  }
}

/** Runs everything that does not wait for the schedule. */
export async function run(turns = 1): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
