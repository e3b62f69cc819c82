import type { Instant } from '../units/time.js';
import type { PointRing } from './point-ring.js';

/**
 * Returns the first count column at the end of each of the last `steps` steps before `until`, oldest first; null:
 * unknown. `rings` are in the order of time; where they overlap, the last one is used. Steps start at the epoch.
 */
export function recentCounts(
  rings: readonly PointRing[],
  {
    until,
    stepSeconds,
    steps,
  }: { readonly until: Instant; readonly stepSeconds: number; readonly steps: number },
): readonly (number | null)[] {
  const stepMs = stepSeconds * 1000;
  const first = Math.floor(until / stepMs) - steps + 1;
  const counts = new Array<number | null>(steps).fill(null);
  let known: { readonly step: number; readonly count: number } | null = null;
  for (const [ring, index] of newest(rings, first * stepMs)) {
    const step = Math.floor((ring.timeOf(index) ?? 0) / stepMs) - first;
    const count = ring.countOf(index, 0);
    if (step >= steps) break;
    // A run of equal points is stored as its first and its last point.
    if (known !== null && known.count === count)
      for (let between = Math.max(0, known.step + 1); between < step; between += 1) counts[between] = count;
    if (step >= 0) counts[step] = count;
    known = count === null ? null : { step, count };
  }
  return counts;
}

/** Yields the points since the last one before `fromMs`, in the order of time. */
function* newest(
  rings: readonly PointRing[],
  fromMs: number,
): Generator<readonly [PointRing, number], undefined> {
  for (const [index, ring] of rings.entries()) {
    const endMs = rings[index + 1]?.timeOf(0) ?? Number.POSITIVE_INFINITY;
    for (let index = indexBefore(ring, fromMs); index < ring.size(); index += 1) {
      if ((ring.timeOf(index) ?? 0) >= endMs) break;
      yield [ring, index];
    }
  }
  return undefined;
}

/** Returns the index of the last point before `fromMs`, or 0. */
function indexBefore(ring: PointRing, fromMs: number): number {
  let low = 0;
  let high = ring.size() - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((ring.timeOf(middle) ?? 0) < fromMs) low = middle;
    else high = middle - 1;
  }
  return low;
}
