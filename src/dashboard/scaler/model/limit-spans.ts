import type { LimitName } from '../../../decision/result/limit-names.js';
import type { DecisionEntry } from './answers.js';

/** A time range (Unix seconds) in which the same limit determined the result. */
export interface LimitSpan {
  readonly from: number;
  readonly to: number;
  readonly limit: LimitName;
}

/**
 * Returns the time ranges in which a limit was the last limit to change the result, oldest first. `entries` are newest
 * first. A range ends with the next decision; the last range ends at `now` (Unix seconds).
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
