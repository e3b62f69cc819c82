import type { Instant } from '../units/time.js';
import type { Point } from './point-ring.js';

export interface Bucket {
  /** Whether an instant is in the step of the first point. */
  readonly contains: (at: Instant) => boolean;
  readonly add: (point: Point) => void;
  /** Time and counts of the last point, and for each metric the mean of the known values; null: none is known. */
  readonly point: () => Point;
}

/** Steps start at the epoch, so they are the same for all scalers. */
export function createBucket(first: Point, stepSeconds: number): Bucket {
  const step = Math.floor(first.at / (1000 * stepSeconds));
  const sums = first.values.map(() => 0);
  const known = first.values.map(() => 0);
  let last = first;
  const add = (point: Point): void => {
    last = point;
    point.values.forEach((value, index) => {
      if (value === null) return;
      sums[index] = (sums[index] ?? 0) + value;
      known[index] = (known[index] ?? 0) + 1;
    });
  };
  add(first);
  return {
    contains: (at) => Math.floor(at / (1000 * stepSeconds)) === step,
    add,
    point: () => ({
      ...last,
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
