import type { Instant } from '../units/time.js';
import type { Recommendation } from './snapshot/snapshot.js';

/** Larger counts are rare enough to have objects of their own. */
const MOST_SHARED = 1000;

let sharedAt: Instant | null = null;
let shared: (Recommendation | undefined)[] = [];

/**
 * Returns the same object for the same time and count. All scalers of a round decide at the same time, and each keeps
 * the recommendations of its window: 10,000 scalers would keep 200,000 objects, which each decision reads and each
 * garbage collection visits.
 */
export function recommendationAt(at: Instant, replicas: number): Recommendation {
  if (replicas >= MOST_SHARED) return { at, replicas };
  if (at !== sharedAt) {
    sharedAt = at;
    shared = [];
  }
  return (shared[replicas] ??= { at, replicas });
}
