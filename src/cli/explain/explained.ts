import type { Decision } from '../../decision/decision.js';
import type { Snapshot } from '../../decision/snapshot.js';
import type { OutcomeView } from '../../server/views.js';
import type { Instant } from '../../units/time.js';

/** A condition as a service told it, of whatever version. */
export interface ToldCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  /** Left out for a decision of the past: then nobody knows it any more. */
  readonly lastTransitionTime?: string;
}

/** What a running service knows beyond the decision. */
export interface ExplainedStatus {
  readonly conditions: readonly ToldCondition[];
  readonly outcome: Omit<OutcomeView, 'kind'> & { readonly kind: string };
  /** The sentence of a pause that keeps a count, or of a change right after a pause; null: that of the decision. */
  readonly reason: string | null;
  /** Who takes our values back, in a sentence; null: nobody does. */
  readonly conflictingWriter: string | null;
  /** Since the service started; null: none. */
  readonly lastScaleUp: Instant | null;
  readonly lastScaleDown: Instant | null;
}

export interface Explained {
  readonly snapshot: Snapshot;
  /** The decision on `snapshot`. */
  readonly decision: Decision;
  /** Null where there is no service: only a snapshot was read. */
  readonly status: ExplainedStatus | null;
  /** What "ago" and "in" count from: the present, or the snapshot's own instant. */
  readonly now: Instant;
}
