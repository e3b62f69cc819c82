import type { Decision } from '../../decision/decision.js';
import type { Snapshot } from '../../decision/snapshot.js';
import type { OutcomeView } from '../../server/views.js';
import type { Instant } from '../../units/time.js';

/** A condition in the response of a service, of any version. */
export interface ReportedCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  /** Unset for a past decision, which is stored without it. */
  readonly lastTransitionTime?: string;
}

/** What a service reports about a scaler besides the decision. */
export interface ExplainedStatus {
  readonly conditions: readonly ReportedCondition[];
  readonly outcome: Omit<OutcomeView, 'kind'> & { readonly kind: string };
  /** Replaces the reason of the decision if a pause sets the replicas, or in the first cycle after it. */
  readonly reason: string | null;
  /** The message about another writer of spec.replicas; null: none. */
  readonly conflictingWriter: string | null;
  /** Null: none since the service started. */
  readonly lastScaleUp: Instant | null;
  readonly lastScaleDown: Instant | null;
}

export interface Explanation {
  readonly snapshot: Snapshot;
  /** The decision for `snapshot`. */
  readonly decision: Decision;
  /** Null for a snapshot from a file. */
  readonly status: ExplainedStatus | null;
  /** The reference for "ago" and "in": the current time, or the time of the snapshot. */
  readonly now: Instant;
}
