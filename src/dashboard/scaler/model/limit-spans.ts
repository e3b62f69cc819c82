import type { LimitName } from '../../../decision/result/limit-names.js';
import type { DecisionEntry } from './answers.js';

/** A time range (Unix seconds) in which the same limit determined the result. */
export interface LimitSpan {
  readonly from: number;
  readonly to: number;
  readonly limit: LimitName;
}

/**
 * Returns for each limit the time ranges in which it was the last one that changed the result, the oldest first.
 * `entries`: the newest first. A range ends with the next decision; the last one ends at `now` (Unix seconds).
 */
export function limitSpans(entries: readonly DecisionEntry[], now: number): readonly LimitSpan[] {
  const spans: LimitSpan[] = [];
  let to = now;
  for (const { firstAt, decision } of entries) {
    const from = Date.parse(firstAt) / 1000;
    const limit = decision?.limits.at(-1)?.limit;
    const later = spans.at(-1);
    if (limit !== undefined) {
      if (later?.limit === limit && later.from === to) spans[spans.length - 1] = { ...later, from };
      else spans.push({ from, to, limit });
    }
    to = from;
  }
  return spans.reverse();
}
