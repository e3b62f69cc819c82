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
  return new StepBucket(first, stepSeconds);
}

/** A class: each scaler has a bucket, and functions of its own would need more memory than its numbers. */
class StepBucket implements Bucket {
  readonly #stepMs: number;
  readonly #step: number;
  readonly #sums: number[];
  readonly #known: number[];
  readonly #counts: (number | null)[];
  #at: Instant;

  constructor(first: Point, stepSeconds: number) {
    this.#stepMs = 1000 * stepSeconds;
    this.#step = Math.floor(first.at / this.#stepMs);
    this.#sums = first.values.map(() => 0);
    this.#known = first.values.map(() => 0);
    this.#counts = first.counts.slice();
    this.#at = first.at;
    this.add(first);
  }

  contains(instant: Instant): boolean {
    return Math.floor(instant / this.#stepMs) === this.#step;
  }

  add(point: Point): void {
    this.#at = point.at;
    const [counts, sums, known] = [this.#counts, this.#sums, this.#known];
    for (let column = 0; column < counts.length; column += 1) counts[column] = point.counts[column] ?? null;
    for (let column = 0; column < sums.length; column += 1) {
      const value = point.values[column] ?? null;
      if (value === null) continue;
      sums[column] = (sums[column] ?? 0) + value;
      known[column] = (known[column] ?? 0) + 1;
    }
  }

  point(): Point {
    const known = this.#known;
    return {
      at: this.#at,
      counts: this.#counts.slice(),
      values: this.#sums.map((sum, index) => (known[index] === 0 ? null : sum / (known[index] ?? 1))),
    };
  }
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
