import type { Scaler } from '../scaler/spec.js';
import type { Instant } from '../units/time.js';
import { type CycleRecord, reasonOf } from './cycle-record.js';

/** How often a dry run and the HPA of its target had the same desired replicas, since this process started. */
export interface Agreement {
  /** For example `HorizontalPodAutoscaler shop/web`. */
  readonly beside: string;
  /** The first compared cycle. */
  readonly since: Instant;
  /** Compared cycles. */
  readonly rounds: number;
  /** Cycles of these with the same desired replicas. */
  readonly same: number;
  /** The last one of the largest differences; null: no cycle differed. */
  readonly largest: LargestDifference | null;
}

interface LargestDifference {
  readonly at: Instant;
  readonly desiredReplicas: number;
  readonly theirReplicas: number;
  /** Reason of the decision of promscaler. */
  readonly reason: string;
}

/** Counts a cycle. A changed spec or another HPA starts again; a cycle that is not compared changes nothing. */
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

/** A reload makes a new object of an unchanged document. */
export function isSameSpec(a: Scaler, b: Scaler): boolean {
  return a === b || JSON.stringify(a.document.spec) === JSON.stringify(b.document.spec);
}
