import type { Snapshot } from '../../decision/snapshot/snapshot.js';
import type { StateStore } from '../../kubernetes/state/state-store.js';
import type { Cluster, ScaleTarget } from '../../kubernetes/api/types.js';
import type { Answer } from '../../prometheus/answers/answer.js';
import type { RoundAnswers } from '../../prometheus/metric-source.js';
import type { SourceAge } from '../../prometheus/source/age.js';
import type { Scaler } from '../../scaler/spec.js';
import type { CycleRecord } from '../../telemetry/cycle-record.js';
import type { Clock } from '../../units/clock.js';
import type { Instant } from '../../units/time.js';
import type { DeletionCosts } from '../deletion-costs/deletion-costs.js';
import type { Leadership } from '../election/leadership.js';
import type { Memory } from '../memory/memory.js';

export interface CycleInput {
  readonly scaler: Scaler;
  readonly memory: Memory;
  /** The start of the round. */
  readonly now: Instant;
  readonly answers: RoundAnswers;
  readonly sharesTargetWith: string | null;
  /** Whether the document is still in effect; checked directly before a change. */
  readonly isCurrent: () => boolean;
  readonly signal: AbortSignal;
}

/** What a cycle has waited for. */
export interface Readings {
  /** In the order of `spec.metrics`. */
  readonly results: readonly Answer[];
  /** By `ageKey`, at least of those that have answered; read after the results. */
  readonly ages: ReadonlyMap<string, SourceAge>;
  /** Monotonic time at which the cycle began to wait for them. */
  readonly sinceMs: number;
}

export interface AnsweredCycle extends CycleInput {
  readonly readings: Readings;
}

export interface CycleOutput {
  readonly memory: Memory;
  readonly record: CycleRecord;
  readonly target: ScaleTarget | null;
}

export interface CyclePorts {
  readonly clock: Clock;
  readonly cluster: Cluster;
  readonly observeMetrics: ObserveMetrics;
  /** The dry run of the service: no scaler patches anything. */
  readonly dryRun: boolean;
  readonly leadership: Leadership;
  readonly state: Pick<StateStore, 'read' | 'put' | 'putLater'>;
  /** Default: no pod is patched. */
  readonly deletionCosts?: Pick<DeletionCosts, 'update'>;
  /** Waits for a free slot among the concurrent changes. Resolves with a function that frees the slot. */
  readonly takeTurn: () => Promise<() => void>;
}

/** Returns the metrics of a target as samples, and until when they prevent a scale-down. */
export type ObserveMetrics = (input: {
  readonly scaler: Scaler;
  readonly memory: Memory;
  readonly readings: Readings;
  readonly now: Instant;
  readonly pods: Snapshot['pods'];
  /** The data sources as they were queried. Default: those of the config. */
  readonly sources?: RoundAnswers['sources'];
}) => {
  readonly samples: Snapshot['samples'];
  readonly holds: Memory['holds'];
  readonly holdScaleDownUntil: Instant | null;
  readonly holdReason: string | null;
};
