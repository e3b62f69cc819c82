import type { Snapshot } from '../decision/snapshot.js';
import type { StateStore } from '../kubernetes/state/store.js';
import type { Cluster, ScaleTarget } from '../kubernetes/types.js';
import type { RoundAnswers } from '../prometheus/planner.js';
import type { Scaler } from '../scaler/spec.js';
import type { CycleRecord } from '../telemetry/cycle-record.js';
import type { Clock } from '../units/clock.js';
import type { Instant } from '../units/time.js';
import type { DeletionCosts } from './deletion-costs/deletion-costs.js';
import type { Leadership } from './election/leadership.js';
import type { Memory } from './memory/memory.js';

/** What one cycle of one scaler starts from. */
export interface CycleInput {
  readonly scaler: Scaler;
  readonly memory: Memory;
  /** The instant of the round. */
  readonly now: Instant;
  readonly answers: RoundAnswers;
  /** Another document on the same target; null: none. */
  readonly sharesTargetWith: string | null;
  /** Whether the scaler is still wanted: asked just before a change. */
  readonly isCurrent: () => boolean;
  readonly signal: AbortSignal;
}

export interface CycleOutput {
  readonly memory: Memory;
  readonly record: CycleRecord;
  /** Null where it could not be read. */
  readonly target: ScaleTarget | null;
}

export interface CyclePorts {
  readonly clock: Clock;
  readonly cluster: Cluster;
  /** Metrics of the target as samples, and until when scale-down is held because of them. */
  readonly observeMetrics: ObserveMetrics;
  /** For all scalers: decide, export, never patch. */
  readonly dryRun: boolean;
  readonly leadership: Leadership;
  /** Where what must outlive this process is kept. */
  readonly state: Pick<StateStore, 'read' | 'put' | 'putLater'>;
  /** Which pods a scale-down takes. Left out: no pod is ever written to. */
  readonly deletionCosts?: Pick<DeletionCosts, 'attend'>;
  /** Waits for one of the places for changes under way; the answer gives it back. */
  readonly takeTurn: () => Promise<() => void>;
}

export type ObserveMetrics = (input: {
  readonly scaler: Scaler;
  readonly memory: Memory;
  readonly answers: RoundAnswers;
  readonly now: Instant;
  readonly readPods: () => Snapshot['pods'];
}) => Promise<{
  readonly pods: Snapshot['pods'];
  readonly samples: Snapshot['samples'];
  readonly holds: Memory['holds'];
  readonly holdScaleDownUntil: Instant | null;
  readonly holdReason: string | null;
}>;
