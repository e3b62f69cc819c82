import type { Decision } from '../../decision/result/decision.js';
import type { Snapshot } from '../../decision/snapshot/snapshot.js';
import type { OutcomeView } from '../../api/answers.js';
import type { Instant } from '../../units/time.js';

/** A condition as a service of any version reports it. */
export interface ReportedCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  /** Unset: the condition belongs to a past decision, whose conditions are stored without this time. */
  readonly lastTransitionTime?: string;
}

/** The state as a service of any version reports it. */
export interface ReportedState {
  readonly name: string;
  readonly cause: string | null;
  readonly since: Instant | null;
  readonly until: Instant | null;
}

/** What a service reports besides the decision. */
export interface ExplainedStatus {
  /** Null: the version of the service is older than this field. */
  readonly state: ReportedState | null;
  readonly conditions: readonly ReportedCondition[];
  readonly outcome: Omit<OutcomeView, 'kind'> & { readonly kind: string };
  /** Replaces the reason of the decision while a pause sets the replicas, and in the first cycle after the pause. */
  readonly reason: string | null;
  /** What a pause with a fixed count does to the replicas; null: there is no such pause. */
  readonly pausedChange: { readonly from: number; readonly to: number } | null;
  /** Generation of the Scaler object that the decision used; null: unknown, or the document is a file. */
  readonly generation: number | null;
  readonly newestGeneration: number | null;
  /** Errors of the newest version of the document; empty: the newest version is valid. */
  readonly rejections: readonly string[];
  /** Errors of an object that has no effect because a file has the same name; empty: there is no such object. */
  readonly unusedObject: readonly string[];
  /** Message about another client that writes spec.replicas; null: there is none. */
  readonly conflictingWriter: string | null;
  /** Null: the replicas were not changed since the service started. */
  readonly lastScaleUp: Instant | null;
  readonly lastScaleDown: Instant | null;
}

export interface Explanation {
  readonly snapshot: Snapshot;
  readonly decision: Decision;
  /** Null: the snapshot is from a file. */
  readonly status: ExplainedStatus | null;
  /** The time to which "ago" and "in" refer: the current time, or the time of the snapshot. */
  readonly now: Instant;
}
