import type { Scaler } from '../scaler/spec.js';
import type { Instant } from '../units/time.js';
import { type CycleRecord, reasonOf } from './cycle-record.js';

export interface Agreement {
  /** The other autoscaler, for example `HorizontalPodAutoscaler shop/web`. */
  readonly beside: string;
  /** When the first compared cycle was. */
  readonly since: Instant;
  /** Number of compared cycles. */
  readonly rounds: number;
  /** Number of compared cycles with equal desired replicas. */
  readonly same: number;
  /** The largest difference, the last one of several; null: no cycle differed. */
  readonly largest: LargestDifference | null;
}

interface LargestDifference {
  readonly at: Instant;
  readonly desiredReplicas: number;
  readonly theirReplicas: number;
  /** Reason of the decision of promscaler. */
  readonly reason: string;
}

/** Counts a cycle. A changed spec or another HPA resets the count. A cycle without a comparison changes nothing. */
export function agreementAfter(
  before: { readonly scaler: Scaler; readonly agreement: Agreement | null } | null,
  record: CycleRecord,
): Agreement | null {
  const { shadow, at } = record;
  const known = before !== null && isSameSpec(before.scaler, record.scaler) ? before.agreement : null;
  if (shadow === undefined) return known;
  const { beside, theirReplicas, difference } = shadow;
  const start = { beside, since: at, rounds: 0, same: 0, largest: null };
  const counted = known?.beside === beside ? known : start;
  const rounds = counted.rounds + 1;
  if (difference === 0) return { ...counted, rounds, same: counted.same + 1 };
  const { largest } = counted;
  const isLarger =
    largest === null || Math.abs(difference) >= Math.abs(largest.desiredReplicas - largest.theirReplicas);
  const found = {
    at,
    desiredReplicas: theirReplicas + difference,
    theirReplicas,
    reason: reasonOf(record) ?? '',
  };
  return { ...counted, rounds, largest: isLarger ? found : largest };
}

/** A reload creates a new object for an unchanged document. */
export function isSameSpec(a: Scaler, b: Scaler): boolean {
  return a === b || JSON.stringify(a.document.spec) === JSON.stringify(b.document.spec);
}
