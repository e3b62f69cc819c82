import type { Condition } from '../../src/decision/result/condition.js';
import type { CycleRecord } from '../../src/telemetry/cycle-record.js';
import { KEPT } from '../../src/prometheus/source/history-watch.js';
import { NO_REVERSALS } from '../../src/control/memory/conflicting-writer.js';
import { alwaysLeads } from '../../src/control/election/leadership.js';
import { freshMemory, type Memory } from '../../src/control/memory/memory.js';
import type { CycleOutput, CyclePorts } from '../../src/control/cycle/types.js';
import { EMPTY_STATE } from '../../src/decision/snapshot/snapshot.js';
import type { State } from '../../src/decision/snapshot/snapshot.js';
import type { Answer } from '../../src/prometheus/answers/answer.js';
import { createStateStore, stateInMemory } from '../../src/kubernetes/state/state-store.js';
import type { StateStore } from '../../src/kubernetes/state/state-store.js';
import { NO_HOLDS } from '../../src/prometheus/recovery-hold.js';
import type { Scaler } from '../../src/scaler/spec.js';
import type { Instant } from '../../src/units/time.js';
import { scalerOf } from '../support/builders.js';
import { ManualClock } from '../support/manual-clock.js';
import { SILENT_LOG } from '../../src/units/log.js';
import { FakeCluster } from './fake-cluster.js';
import { FakeStateMaps } from './fake-state-maps.js';
import { answerAndRun, type TestAnswers, type WaitingCycle } from './run-cycle.js';

export { at } from '../support/builders.js';

/** By default one External metric whose total divided by 10 is the wanted count, and no stabilization. */
const SPEC = {
  scaleTargetRef: { name: 'web' },
  minReplicas: 1,
  maxReplicas: 20,
  downscaleStabilizationSeconds: 0,
  metrics: [
    {
      type: 'External',
      external: {
        metric: { name: 'load' },
        query: 'sum(load)',
        target: { type: 'AverageValue', averageValue: 10 },
      },
    },
  ],
};

/** Builds the scaler `shop/web` for Deployment `web`, with `spec` merged over the one above. */
export function buildScaler(spec: Readonly<Record<string, unknown>> = {}, name = 'web'): Scaler {
  return scalerOf({ ...SPEC, ...spec }, { name });
}

/** A second document for the target of `buildScaler`, as another scaler of it. */
export const SECOND_SCALER = {
  kind: 'Scaler',
  namespace: 'shop',
  name: 'web-2',
  target: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
};

/** Builds the memory of a scaler that has run for long without a recent change. */
export function settledMemory(state: Partial<State> = {}): Memory {
  return {
    uid: 'uid-1',
    state: { ...EMPTY_STATE, recommendations: [], ...state },
    assumedAt: null,
    holds: NO_HOLDS,
    unresolved: null,
    isUnannounced: false,
    override: null,
    writer: NO_REVERSALS,
    shortfall: null,
    isRestored: true,
    stored: null,
    isUnsaved: false,
  };
}

/** Builds an answer whose values sum up to `total`. */
export function answerOf(total: number, evaluatedAt: Instant): Answer {
  return { class: 'value', series: [{ labels: {}, value: total }], evaluatedAt };
}

/** Returns the same answers to all callers. */
export function answersFrom(answers: readonly Answer[], startTime: Instant | null = null): TestAnswers {
  return { of: () => Promise.resolve(answers), ageOf: () => Promise.resolve({ startTime, history: KEPT }) };
}

/** Runs successive cycles of one scaler, as the controller does. */
export function heldOf({ conditions }: Pick<CycleRecord, 'conditions'>): Condition | undefined {
  return conditions.find(({ type }) => type === 'Held');
}

export function withAnnotations(scaler: Scaler, annotations: Readonly<Record<string, string>>): Scaler {
  const { document } = scaler;
  return { ...scaler, document: { ...document, metadata: { ...document.metadata, annotations } } };
}

export class Fixture {
  readonly clock = new ManualClock();
  readonly cluster = new FakeCluster();
  scaler: Scaler;
  memory: Memory = settledMemory();
  /** The value of the metric; the wanted count is a tenth. */
  load = 50;
  /** Used instead of `load`. */
  answers: TestAnswers | null = null;
  dryRun = false;
  state: StateStore = stateInMemory();
  /** The state of a fixture that has been restarted. */
  readonly maps = new FakeStateMaps();
  /** Recovery holds are off unless a test sets this. */
  recoveryHoldMaxSeconds = 0;
  slotsTaken = 0;
  slotsFreed = 0;

  constructor(spec: Readonly<Record<string, unknown>> = {}) {
    this.scaler = buildScaler(spec);
  }

  /** Replaces the process by one that knows only the ConfigMaps. */
  restart(): void {
    const { clock, maps } = this;
    const leadership = alwaysLeads('test');
    this.state = createStateStore({
      transport: maps,
      namespace: 'promscaler',
      clock,
      log: SILENT_LOG,
      leadership,
    });
    this.memory = freshMemory(clock.now(), null);
  }

  /** Sets the annotations of the target, without their prefix `promscaler.dev/`. */
  annotate(annotations: Readonly<Record<string, string>>): void {
    this.cluster.annotations = Object.fromEntries(
      Object.entries(annotations).map(([name, value]) => [`promscaler.dev/${name}`, value]),
    );
  }

  async cycle(input: Partial<WaitingCycle> = {}): Promise<CycleOutput> {
    const now = this.clock.now();
    const output = await answerAndRun(
      {
        scaler: this.scaler,
        memory: this.memory,
        now,
        answers: this.answers ?? answersFrom([answerOf(this.load, now)]),
        ...input,
      },
      this.ports(),
    );
    this.memory = output.memory;
    return output;
  }

  /** Runs one cycle 15 s after the last one. */
  async nextCycle(input: Partial<WaitingCycle> = {}): Promise<CycleOutput> {
    this.clock.advance(15_000);
    return this.cycle(input);
  }

  ports(): CyclePorts {
    return {
      clock: this.clock,
      cluster: this.cluster,
      recoveryHoldMaxSeconds: this.recoveryHoldMaxSeconds,
      dryRun: this.dryRun,
      state: this.state,
      takeSlot: () => {
        this.slotsTaken += 1;
        return Promise.resolve(() => (this.slotsFreed += 1));
      },
    };
  }
}
