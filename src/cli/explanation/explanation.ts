import type { Decision } from '../../decision/result/decision.js';
import type { Snapshot } from '../../decision/snapshot/snapshot.js';
import type { OutcomeView } from '../../api/answers.js';
import type { Instant } from '../../units/time.js';

/** A condition as reported by a service of any version. */
export interface ReportedCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  /** Not stored with past decisions. */
  readonly lastTransitionTime?: string;
}

/** The state as reported by a service. */
export interface ReportedState {
  readonly name: string;
  readonly cause: string | null;
  readonly since: Instant | null;
  readonly until: Instant | null;
}

/** The part of a service's response besides the decision. */
export interface ExplainedStatus {
  /** Null: an older service. */
  readonly state: ReportedState | null;
  readonly conditions: readonly ReportedCondition[];
  readonly outcome: Omit<OutcomeView, 'kind'> & { readonly kind: string };
  /** Replaces the reason of the decision while a pause sets the replicas, and in the first cycle after it. */
  readonly reason: string | null;
  /** What a pause with a fixed count does to the replicas; null: there is no such pause. */
  readonly pausedChange: { readonly from: number; readonly to: number } | null;
  /** Generation of the Scaler object that the decision was made for; null: the document is a file, or it is unknown. */
  readonly generation: number | null;
  readonly newestGeneration: number | null;
  /** Errors of the newest version of the document; empty: that version is not rejected. */
  readonly rejections: readonly string[];
  /** Errors of an object that is not used, because a file has the same name; empty: there is none. */
  readonly unusedObject: readonly string[];
  /** Message about another client that writes spec.replicas; null: none. */
  readonly conflictingWriter: string | null;
  /** Null: no change since the service started. */
  readonly lastScaleUp: Instant | null;
  readonly lastScaleDown: Instant | null;
}

export interface Explanation {
  readonly snapshot: Snapshot;
  readonly decision: Decision;
  /** Null for a snapshot from a file. */
  readonly status: ExplainedStatus | null;
  /** Reference of "ago" and "in": the current time, or the time of the snapshot. */
  readonly now: Instant;
}
