import type { Scaler } from '../scaler/spec.js';
import type { Instant } from '../units/time.js';
import { type CycleRecord, reasonOf } from './cycle-record.js';

export interface Agreement {
  /** The other autoscaler, such as `HorizontalPodAutoscaler shop/web`. */
  readonly beside: string;
  /** The time of the first cycle that was compared. */
  readonly since: Instant;
  /** How many cycles were compared. */
  readonly rounds: number;
  /** In how many of them the desired replicas were equal. */
  readonly same: number;
  /** The largest difference, and of several the last one; null: there was none. */
  readonly largest: LargestDifference | null;
}

interface LargestDifference {
  readonly at: Instant;
  readonly desiredReplicas: number;
  readonly theirReplicas: number;
  /** The reason of promscaler's decision. */
  readonly reason: string;
}

/**
 * Adds a cycle to the comparison. It starts again if the spec or the HPA is another one. A cycle that was not compared
 * changes nothing.
 */
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

/** Compares the contents of two specs, because a reload creates a new object even for an unchanged document. */
export function isSameSpec(a: Scaler, b: Scaler): boolean {
  return a === b || JSON.stringify(a.document.spec) === JSON.stringify(b.document.spec);
}
