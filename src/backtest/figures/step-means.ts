import type { Instant } from '../../units/time.js';
import type { CountStep } from '../simulation/count-steps.js';

/**
 * Yields the mean count and the length in seconds of each period of `stepSeconds` from `start` to `end`. The last
 * period may be shorter.
 */
export function* stepMeans(
  counts: readonly CountStep[],
  {
    start,
    end,
    stepSeconds,
  }: { readonly start: Instant; readonly end: Instant; readonly stepSeconds: number },
): Iterable<{ readonly mean: number; readonly seconds: number }> {
  let index = 0;
  for (let from: number = start; from < end; from += stepSeconds * 1000) {
    const to = Math.min(from + stepSeconds * 1000, end);
    let area = 0;
    let time = from;
    while (time < to) {
      while ((counts[index + 1]?.at ?? Infinity) <= time) index += 1;
      const until = Math.min(counts[index + 1]?.at ?? to, to);
      area += (counts[index]?.count ?? 0) * (until - time);
      time = until;
    }
    yield { mean: area / (to - from), seconds: (to - from) / 1000 };
  }
}
