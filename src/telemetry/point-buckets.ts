import type { Instant } from '../units/time.js';
import type { Point } from './point-ring.js';

/** The means of the values of the points in one step. Steps start at the epoch, so they are the same for all scalers. */
export class Bucket {
  readonly #stepMs: number;
  readonly #sums: number[];
  readonly #known: number[];
  #step: number;

  /** Creates a bucket for the step that contains `first`, which is its first point. */
  constructor(first: Point, stepSeconds: number) {
    this.#stepMs = 1000 * stepSeconds;
    this.#sums = first.values.map(() => 0);
    this.#known = first.values.map(() => 0);
    this.#step = this.#stepOf(first.at);
    this.add(first);
  }

  /** Returns whether an instant is in this step. */
  contains(at: Instant): boolean {
    return this.#stepOf(at) === this.#step;
  }

  /** Adds a point of this step. */
  add({ values }: Point): void {
    const [sums, known] = [this.#sums, this.#known];
    for (let column = 0; column < sums.length; column += 1) {
      const value = values[column] ?? null;
      if (value === null) continue;
      sums[column] = (sums[column] ?? 0) + value;
      known[column] = (known[column] ?? 0) + 1;
    }
  }

  /** Returns time and counts of the last point, and for each metric the mean of the known values; null: none is known. */
  point({ at, counts }: Omit<Point, 'values'>): Point {
    const known = this.#known;
    const values = this.#sums.map((sum, index) => (known[index] === 0 ? null : sum / (known[index] ?? 1)));
    return { at, counts, values };
  }

  /** Starts another step with its first point. */
  restart(first: Point): void {
    this.#step = this.#stepOf(first.at);
    this.#sums.fill(0);
    this.#known.fill(0);
    this.add(first);
  }

  #stepOf(at: Instant): number {
    return Math.floor(at / this.#stepMs);
  }
}

export function joinByStep(points: readonly Point[], stepSeconds: number): readonly Point[] {
  const steps: { readonly bucket: Bucket; last: Point }[] = [];
  for (const point of points) {
    const step = steps.at(-1);
    if (step?.bucket.contains(point.at) === true) {
      step.bucket.add(point);
      step.last = point;
    } else steps.push({ bucket: new Bucket(point, stepSeconds), last: point });
  }
  return steps.map(({ bucket, last }) => bucket.point(last));
}
