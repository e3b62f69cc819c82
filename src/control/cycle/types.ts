import type { Pause } from '../../decision/pause.js';
import type { Condition } from '../../decision/result/condition.js';
import type { Decision } from '../../decision/result/decision.js';
import type { Snapshot } from '../../decision/snapshot/snapshot.js';
import type {
  Cluster,
  KubernetesError,
  OtherScaler,
  ScaleTarget,
  TargetEvent,
} from '../../kubernetes/api/types.js';
import type { Intent } from '../../kubernetes/state/state-entry.js';
import type { StateStore } from '../../kubernetes/state/state-store.js';
import type { SourceConfig } from '../../prometheus/data-source/source-config.js';
import type { Readings } from '../../prometheus/queries/collect.js';
import type { FollowUps } from '../../prometheus/queries/round.js';
import type { Scaler } from '../../scaler/spec.js';
import type { CycleRecord, OutcomeKind } from '../../telemetry/cycle-record.js';
import type { Recorder } from '../../telemetry/records.js';
import type { Clock } from '../../units/clock.js';
import type { Log } from '../../units/log.js';
import type { Instant } from '../../units/time.js';
import type { DeletionCosts } from './deletion-costs.js';
import type { Leadership } from '../election/leadership.js';
import type { Memory } from '../memory/memory.js';

/** A scaler that is due, with the answers to its queries. */
export interface CycleInput {
  readonly scaler: Scaler;
  readonly memory: Memory;
  /** The start of the round. */
  readonly now: Instant;
  readonly readings: Readings;
  /** Sends the queries that depend on the decision. */
  readonly followUps: FollowUps;
  /** Whether the scaler may be changed now; checked directly before each write. */
  readonly leadership: Leadership;
  /** Another scaler of the target, by `findSharedTargets`. */
  readonly sharesTargetWith: OtherScaler | null;
  /** Whether the document is still in effect; checked directly before a change. */
  readonly isCurrent: () => boolean;
  readonly signal: AbortSignal;
}

/** Everything that a cycle knows before it decides. */
export interface Observed {
  readonly snapshot: Snapshot;
  readonly target: ScaleTarget;
  /** The memory for this target; fresh if the target was recreated. */
  readonly memory: Memory;
  readonly targetReached: Condition;
  readonly otherScaler: OtherScaler | null;
  /**
   * In a dry run: the autoscaler that the document was made from, if it no longer scales the target; null: it does, or is
   * unknown.
   */
  readonly formerScaler: string | null;
  readonly pause: Pause | null;
  readonly isDryRun: boolean;
  /** Why the state store is unusable for this scaler; null: it is usable. */
  readonly degraded: string | null;
}

/** A cycle whose target, pods or HPAs could not be read: it decides nothing. */
export interface Unread extends Pick<Observed, 'pause' | 'isDryRun'> {
  readonly failure: KubernetesError;
  readonly target: ScaleTarget | null;
}

/** Prevents a decision from being applied, without changing it. */
export interface Hold {
  readonly reason:
    'DryRun' | 'NoAutoscaler' | 'Paused' | 'ConflictingScaler' | 'ScaleOverridden' | 'StateDegraded';
  readonly outcome: OutcomeKind;
  readonly message: string;
}

export interface Decided {
  readonly observed: Observed;
  readonly decision: Decision;
  /** The decision to apply. In a pause with a fixed count it differs from `decision`. */
  readonly order: Decision;
  readonly hold: Hold | null;
}

export type ScaleResult =
  /**
   * `replicas`: the count in the response, which an admission webhook may have changed. `unannounced`: why the intent
   * could not be stored; null: it was stored. `intendedAt`: the time of the intent.
   */
  | {
      readonly kind: 'patched';
      readonly replicas: number;
      readonly unannounced: string | null;
      readonly intendedAt: Instant;
    }
  /**
   * Another client has changed the count since the decision. `afterConflict`: the change was found after a conflict, so
   * it may also come from an earlier PATCH of this process.
   */
  | {
      readonly kind: 'moved';
      readonly message: string;
      readonly specReplicas: number;
      readonly statusReplicas: number;
      readonly resourceVersion: string;
      readonly afterConflict: boolean;
    }
  | { readonly kind: 'recreated'; readonly message: string }
  /** Nothing was sent: this process must not write now, the stored state or the scaler has changed, or the read is too old. */
  | { readonly kind: 'given-up'; readonly message: string }
  /** Nothing was sent: the intent of a scale-down could not be stored. */
  | { readonly kind: 'unannounced'; readonly message: string }
  /** `unresolved`: the intent, if the PATCH may have been applied; null: it was not applied. */
  | { readonly kind: 'failed'; readonly message: string; readonly unresolved: Intent | null };

/** A cycle after its change. The memory of `observed` has the stored intent of the change. */
export interface Settled extends Decided {
  /** Null: nothing was changed. */
  readonly result: ScaleResult | null;
  /** Total of all its decisions. */
  readonly decideSeconds: number;
}

export interface CycleOutput {
  readonly memory: Memory;
  readonly record: CycleRecord;
  readonly target: ScaleTarget | null;
}

export interface CyclePorts {
  readonly clock: Clock;
  readonly cluster: Cluster;
  /** Data sources of the config, unless `followUps` has them as they were queried. */
  readonly sources: ReadonlyMap<string, SourceConfig>;
  readonly recoveryHoldMaxSeconds: number;
  /** The dry run of the service: no scaler patches anything. */
  readonly dryRun: boolean;
  readonly state: Pick<StateStore, 'read' | 'put' | 'putLater'>;
  /** Default: no pod is patched. */
  readonly deletionCosts?: Pick<DeletionCosts, 'update'>;
  /** Waits for a free slot among the concurrent changes. Resolves with a function that frees the slot. */
  readonly takeSlot: () => Promise<() => void>;
  /** Default: nothing is reported. */
  readonly report?: CycleReportPorts;
}

export interface CycleReportPorts {
  readonly recorder: Recorder;
  /** `scaler` is NAMESPACE/NAME. Null: the target could not be read, and only a Scaler object has the Event. */
  readonly recordEvent: (target: ScaleTarget | null, event: TargetEvent, scaler: string) => void;
  readonly isLeading: () => boolean;
  readonly log: Log;
  /** Called after each cycle of the round that began at `now`. */
  readonly onEnd?: (now: Instant) => void;
  readonly onCycle?: ((output: CycleOutput) => void) | undefined;
}
