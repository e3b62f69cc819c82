import type { Clock } from '../../units/clock.js';
import { createPodsBatches, type PodsBatches } from './pods-batches.js';

/** The batches of each query with `$pods`, from round to round. */
export interface KnownBatches {
  readonly of: (key: string, query: string) => PodsBatches;
}

/** Longer than the longest sync period. What a deleted document has taught is then forgotten. */
const FORGET_MS = 7_200_000;
const CLEAN_MS = 60_000;

export function createKnownBatches(clock: Clock): KnownBatches {
  const known = new Map<string, { readonly batches: PodsBatches; usedMs: number }>();
  let cleanMs = -Infinity;
  return {
    of: (key, query) => {
      const nowMs = clock.monotonicMs();
      if (nowMs >= cleanMs) {
        cleanMs = nowMs + CLEAN_MS;
        for (const [each, { usedMs }] of known) if (nowMs - usedMs > FORGET_MS) known.delete(each);
      }
      let entry = known.get(key);
      if (entry === undefined) known.set(key, (entry = { batches: createPodsBatches(query), usedMs: nowMs }));
      entry.usedMs = nowMs;
      return entry.batches;
    },
  };
}
