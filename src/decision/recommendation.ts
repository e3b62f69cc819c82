import type { Instant } from '../units/time.js';
import { recent } from './recent-entries.js';
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

/** What the last call for a count returned. */
interface Moved {
  readonly entries: readonly Recommendation[];
  readonly start: Instant;
  readonly added: Recommendation;
  readonly list: readonly Recommendation[];
}

const lastMoved: (Moved | undefined)[] = [];

/**
 * Returns the recommendations from `start` on, and the added one; null: none is added. Returns the same list for the
 * same recommendations: most scalers have had theirs for the whole window, and 10,000 lists would be copied in each
 * round, and kept.
 */
export function recentRecommendations(
  entries: readonly Recommendation[],
  added: Recommendation | null,
  start: Instant,
): readonly Recommendation[] {
  if (added === null || added.replicas >= MOST_SHARED) return recent(entries, added, start);
  const last = lastMoved[added.replicas];
  if (last?.added === added && last.start === start && haveSameEntries(last.entries, entries))
    return last.list;
  const list = recent(entries, added, start);
  lastMoved[added.replicas] = { entries, start, added, list };
  return list;
}

/** From the end: two histories of the same recommendation differ in their last change. */
function haveSameEntries(a: readonly Recommendation[], b: readonly Recommendation[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let index = a.length - 1; index >= 0; index -= 1) if (a[index] !== b[index]) return false;
  return true;
}
