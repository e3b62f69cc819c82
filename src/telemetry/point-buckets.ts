import type { Instant } from '../units/time.js';
import type { Point } from './point-ring.js';

/** Points of one step of time that become one. */
export interface Bucket {
  /** Whether an instant lies in the step that the first point began. */
  readonly takes: (at: Instant) => boolean;
  readonly add: (point: Point) => void;
  /** The time and the counts of the last point; of each metric the mean of what was known, null where nothing was. */
  readonly point: () => Point;
}

/** The bucket that a point begins. Steps are counted from the epoch, so that a step is the same for all scalers. */
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
    takes: (at) => Math.floor(at / (1000 * stepSeconds)) === step,
    add,
    point: () => ({
      ...last,
      values: sums.map((sum, index) => (known[index] === 0 ? null : sum / (known[index] ?? 1))),
    }),
  };
}

/** One point for each step that has any. */
export function joinByStep(points: readonly Point[], stepSeconds: number): readonly Point[] {
  const buckets: Bucket[] = [];
  for (const point of points) {
    const last = buckets.at(-1);
    if (last?.takes(point.at) === true) last.add(point);
    else buckets.push(createBucket(point, stepSeconds));
  }
  return buckets.map((bucket) => bucket.point());
}
