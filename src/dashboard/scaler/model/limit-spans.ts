import type { LimitName } from '../../../decision/result/limit-names.js';
import type { DecisionEntry } from './answers.js';

/** A time in which one limit determined the result. Unix seconds. */
export interface LimitSpan {
  readonly from: number;
  readonly to: number;
  readonly limit: LimitName;
}

/**
 * Returns the times in which a limit was the last one that changed the result, oldest first. `entries` are newest
 * first. A limit lasts until the next decision, the last one until `now`, in Unix seconds.
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
