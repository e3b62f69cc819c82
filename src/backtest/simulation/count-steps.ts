import type { Instant } from '../../units/time.js';

/** The number of pods from `at` until the next step. */
export interface CountStep {
  readonly at: Instant;
  readonly count: number;
}

type Visit = (count: number, milliseconds: number) => void;

/** Calls `visit` for each interval of constant count, latest first. The first count also applies before its time. */
export function visitCounts(
  steps: readonly CountStep[],
  { from, to }: { readonly from: Instant; readonly to: Instant },
  visit: Visit,
): void {
  let end = to;
  for (let index = steps.length - 1; index >= 0 && end > from; index -= 1) {
    const { at, count } = steps[index] ?? { at: from, count: 0 };
    const start = index === 0 || at < from ? from : at;
    if (start >= end) continue;
    visit(count, end - start);
    end = start;
  }
}

/** Returns the count at a time. Before the first step, it is the count of the first step. */
export function countAt(steps: readonly CountStep[], time: Instant): number {
  const index = steps.findLastIndex(({ at }) => at <= time);
  return steps[Math.max(0, index)]?.count ?? 0;
}

/** Returns the counts since `start`. The first step is at `start`, with the count at that time. */
export function countsSince(steps: readonly CountStep[], start: Instant): readonly CountStep[] {
  if (steps.length === 0) return [];
  const later = steps.filter(({ at }) => at > start);
  return [{ at: start, count: countAt(steps, start) }, ...later];
}
