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
import type { FollowUps } from '../../prometheus/queries/follow-ups.js';
import type { Readings } from '../../prometheus/queries/round.js';
import type { Scaler } from '../../scaler/spec.js';
import type { LedgerEntry } from '../../telemetry/ledger.js';
import type { CycleRecord, OutcomeKind } from '../../telemetry/cycle-record.js';
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
  /** Sends the queries that only some decisions need. */
  readonly followUps: FollowUps;
  /** Says whether the scaler may be changed now. Checked directly before each write. */
  readonly leadership: Leadership;
  /** Another scaler of the same target (`findSharedTargets`); null: there is none. */
  readonly sharesTargetWith: OtherScaler | null;
  /** Returns whether the document is still in effect. It is called directly before a change. */
  readonly isCurrent: () => boolean;
  readonly signal: AbortSignal;
}

/** All facts from which a cycle decides. */
export interface Observed {
  readonly snapshot: Snapshot;
  readonly target: ScaleTarget;
  /** The memory of this target. A target that was recreated has a new memory. */
  readonly memory: Memory;
  readonly targetReached: Condition;
  readonly otherScaler: OtherScaler | null;
  /**
   * Only in a dry run: why nothing scales the target. Null: something does, no autoscaler is expected, this is unknown,
   * or a hand-over may be in progress.
   */
  readonly noAutoscaler: string | null;
  readonly pause: Pause | null;
  readonly isDryRun: boolean;
  /** Why the state store is unusable for this scaler; null: it is usable. */
  readonly degraded: string | null;
}

/** The result of a cycle that decides nothing, because it could not read its target, pods or HPAs. */
export interface Unread extends Pick<Observed, 'pause' | 'isDryRun'> {
  readonly failure: KubernetesError;
  readonly target: ScaleTarget | null;
}

/** Why a decision is not applied. The decision itself stays unchanged. */
export interface Hold {
  readonly reason:
    'DryRun' | 'NoAutoscaler' | 'Paused' | 'ConflictingScaler' | 'ScaleOverridden' | 'StateDegraded';
  readonly outcome: OutcomeKind;
  readonly message: string;
}

export interface Decided {
  readonly observed: Observed;
  readonly decision: Decision;
  /** The decision to apply. It differs from `decision` only in a pause with a fixed count. */
  readonly toApply: Decision;
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
   * Another client has changed the count since the decision. `afterConflict`: the count was found after a conflict, so
   * an earlier PATCH of this process may also have set it.
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
  /**
   * Nothing was sent: this process must not write now, the stored state or the scaler has changed, or the target was
   * read too long ago.
   */
  | { readonly kind: 'given-up'; readonly message: string }
  /** Nothing was sent: the intent of a scale-down could not be stored. */
  | { readonly kind: 'unannounced'; readonly message: string }
  /**
   * The PATCH failed. `unresolved`: the intent of the PATCH if the PATCH may have been applied; null: it was not
   * applied.
   */
  | { readonly kind: 'failed'; readonly message: string; readonly unresolved: Intent | null };

/**
 * A cycle after its change, if any. The memory in `observed` contains the intent of the change, as it was stored before
 * the PATCH.
 */
export interface Settled extends Decided {
  /** The result of the change; null: nothing was changed. */
  readonly result: ScaleResult | null;
  /** The duration of all decisions of the cycle together. */
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
  readonly recoveryHoldMaxSeconds: number;
  /** The dry run of the service. It prevents the changes of all scalers. */
  readonly dryRun: boolean;
  readonly state: Pick<StateStore, 'read' | 'put' | 'putLater'>;
  /** Unset: no costs are set or removed. */
  readonly deletionCosts?: Pick<DeletionCosts, 'update'>;
  /** Waits for a free slot among the concurrent changes. Resolves with the function that frees the slot. */
  readonly takeSlot: () => Promise<() => void>;
  /** Unset: nothing is reported. */
  readonly reporting?: CycleReportPorts;
}

export interface Recorder {
  /**
   * Adds a record to ledger, chart points and metrics. A change is also added to the log and the event feed. Returns
   * the ledger entry before and after. The status of a Scaler object is not written here:
   * `control/status/status-writer.ts` reads it from the ledger.
   */
  readonly add: (record: CycleRecord) => {
    readonly before: LedgerEntry | null;
    readonly after: LedgerEntry;
  };
  readonly remove: (key: string) => void;
}

export interface CycleReportPorts {
  readonly recorder: Recorder;
  /**
   * Sends an Event. `target` null: the target could not be read, so only a Scaler object gets the Event. `scaler`:
   * NAMESPACE/NAME.
   */
  readonly sendEvent: (target: ScaleTarget | null, event: TargetEvent, scaler: string) => void;
  readonly isLeading: () => boolean;
  readonly log: Log;
  /** Called after each cycle with the start of its round. */
  readonly onEnd?: (now: Instant) => void;
  readonly onCycle?: ((output: CycleOutput) => void) | undefined;
}
