import type { LimitName } from '../../../decision/result/limit-names.js';
import type { ScalerState } from '../../../api/answers.js';
import { SEVERITIES } from '../../ui/severities.js';
import type { DecisionEntry } from './answers.js';

/** A time range (Unix seconds) in which the same limit, or none, determined the result. */
export interface LimitSpan {
  readonly from: number;
  readonly to: number;
  /** Null: no limit changed the result. */
  readonly limit: LimitName | null;
  /** The most urgent severity of the states in the range. */
  readonly severity: ScalerState['severity'];
}

/**
 * Returns the time ranges with the last limit that changed the result, oldest first. There is no range before the
 * oldest entry or for times without a decision. `entries` are newest first. A range ends with the next decision; the
 * last range ends at `now` (Unix seconds), and is empty if the clock of the browser is behind.
 */
export function limitSpans(entries: readonly DecisionEntry[], now: number): readonly LimitSpan[] {
  const spans: LimitSpan[] = [];
  let to = now;
  for (const { firstAt, decision, state } of entries) {
    const from = Date.parse(firstAt) / 1000;
    const later = spans.at(-1);
    if (decision !== null) {
      const limit = decision.limits.at(-1)?.limit ?? null;
      if (later?.limit === limit && later.from === to) {
        const severity = SEVERITIES.find((one) => one === later.severity || one === state.severity);
        spans[spans.length - 1] = { ...later, from, severity: severity ?? later.severity };
      } else spans.push({ from, to: Math.max(from, to), limit, severity: state.severity });
    }
    to = from;
  }
  return spans.reverse();
}
