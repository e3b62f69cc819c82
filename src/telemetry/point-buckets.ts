import type { Instant } from '../units/time.js';
import type { Point } from './point-ring.js';

export interface Bucket {
  /** Whether an instant is in the step of the first point. */
  readonly contains: (at: Instant) => boolean;
  /** Copies what it needs of the point. */
  readonly add: (point: Point) => void;
  /** Time and counts of the last point, and for each metric the mean of the known values; null: none is known. */
  readonly point: () => Point;
}

/** Steps start at the epoch, so they are the same for all scalers. */
export function createBucket(first: Point, stepSeconds: number): Bucket {
  const step = Math.floor(first.at / (1000 * stepSeconds));
  const sums = first.values.map(() => 0);
  const known = first.values.map(() => 0);
  const counts = [...first.counts];
  let { at } = first;
  const add = (point: Point): void => {
    ({ at } = point);
    for (let column = 0; column < counts.length; column += 1) counts[column] = point.counts[column] ?? null;
    for (let column = 0; column < sums.length; column += 1) {
      const value = point.values[column] ?? null;
      if (value === null) continue;
      sums[column] = (sums[column] ?? 0) + value;
      known[column] = (known[column] ?? 0) + 1;
    }
  };
  add(first);
  return {
    contains: (instant) => Math.floor(instant / (1000 * stepSeconds)) === step,
    add,
    point: () => ({
      at,
      counts: [...counts],
      values: sums.map((sum, index) => (known[index] === 0 ? null : sum / (known[index] ?? 1))),
    }),
  };
}

export function joinByStep(points: readonly Point[], stepSeconds: number): readonly Point[] {
  const buckets: Bucket[] = [];
  for (const point of points) {
    const last = buckets.at(-1);
    if (last?.contains(point.at) === true) last.add(point);
    else buckets.push(createBucket(point, stepSeconds));
  }
  return buckets.map((bucket) => bucket.point());
}
