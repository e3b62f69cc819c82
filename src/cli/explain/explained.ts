import type { Decision } from '../../decision/decision.js';
import type { Snapshot } from '../../decision/snapshot.js';
import type { ConditionView, OutcomeView } from '../../server/views.js';
import type { Instant } from '../../units/time.js';

/** What a running service knows beyond the decision. */
export interface ExplainedStatus {
  readonly conditions: readonly ConditionView[];
  readonly outcome: Omit<OutcomeView, 'kind'> & { readonly kind: string };
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
