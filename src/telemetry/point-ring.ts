import { instantFromMs } from '../units/time.js';
import type { Instant } from '../units/time.js';

/** Replica counts and values of metrics at one instant. Null: unknown, never 0. */
export interface Point {
  readonly at: Instant;
  readonly counts: readonly (number | null)[];
  readonly values: readonly (number | null)[];
}

/** The newest points of a scaler in typed arrays: 8 bytes for the time, 4 for each number. */
export interface PointRing {
  /**
   * Adds a copy of a point, whose numbers of counts and values must match this ring. With more than `room` points,
   * drops the oldest.
   */
  readonly push: (point: Point, room: number) => void;
  readonly moveNewest: (at: Instant) => void;
  /** 0: the oldest; null: no such point. */
  readonly get: (index: number) => Point | null;
  /** Whether the point at `index` has the same numbers. Times are not compared. */
  readonly isEqual: (index: number, point: Point) => boolean;
  /** Null: no such point. Cheaper than `get`. */
  readonly timeOf: (index: number) => Instant | null;
  /** One count of the point at `index`; null: unknown, or no such point. Cheaper than `get`. */
  readonly countOf: (index: number, column: number) => number | null;
  readonly size: () => number;
}

export function bytesPerPoint(counts: number, values: number): number {
  return 8 + 4 * counts + 4 * values;
}

const MISSING_COUNT = -1;
const MIN_CAPACITY = 16;

export function createPointRing(countsPerPoint: number, valuesPerPoint: number): PointRing {
  return new TypedRing(countsPerPoint, valuesPerPoint);
}

interface Columns {
  readonly times: Float64Array;
  readonly counts: Int32Array;
  readonly values: Float32Array;
}

const NO_COLUMNS: Columns = {
  times: new Float64Array(0),
  counts: new Int32Array(0),
  values: new Float32Array(0),
};

/** A class, and one buffer for all columns: 20,000 rings with functions and buffers of their own need 2 kB more each. */
class TypedRing implements PointRing {
  readonly #countsPerPoint: number;
  readonly #valuesPerPoint: number;
  #capacity = 0;
  #start = 0;
  #size = 0;
  #columns = NO_COLUMNS;

  constructor(countsPerPoint: number, valuesPerPoint: number) {
    this.#countsPerPoint = countsPerPoint;
    this.#valuesPerPoint = valuesPerPoint;
  }

  push(point: Point, room: number): void {
    const wanted = Math.max(1, Math.floor(room));
    if (this.#capacity > wanted) this.#resize(wanted);
    else if (this.#size === this.#capacity && this.#capacity < wanted)
      this.#resize(Math.min(wanted, Math.max(MIN_CAPACITY, 2 * this.#capacity)));
    if (this.#size < this.#capacity) this.#size += 1;
    else this.#start = (this.#start + 1) % this.#capacity;
    this.#write(this.#slot(this.#size - 1), point);
  }

  moveNewest(at: Instant): void {
    if (this.#size > 0) this.#columns.times[this.#slot(this.#size - 1)] = at;
  }

  get(index: number): Point | null {
    if (!this.#has(index)) return null;
    const place = this.#slot(index);
    const { times, counts, values } = this.#columns;
    const own = <T>(column: ArrayLike<T>, width: number): readonly T[] =>
      Array.from({ length: width }, (_, at) => column[place * width + at] as T);
    return {
      at: instantFromMs(times[place] ?? 0),
      counts: own(counts, this.#countsPerPoint).map((count) => (count === MISSING_COUNT ? null : count)),
      values: own(values, this.#valuesPerPoint).map((value) =>
        Number.isFinite(value) ? rounded(value) : null,
      ),
    };
  }

  isEqual(index: number, point: Point): boolean {
    if (!this.#has(index)) return false;
    const place = this.#slot(index);
    const { counts, values } = this.#columns;
    const [countsPerPoint, valuesPerPoint] = [this.#countsPerPoint, this.#valuesPerPoint];
    for (let column = 0; column < countsPerPoint; column += 1)
      if (counts[place * countsPerPoint + column] !== (point.counts[column] ?? MISSING_COUNT)) return false;
    // Stored values are rounded to 4 bytes. Object.is treats NaN as equal to NaN.
    for (let column = 0; column < valuesPerPoint; column += 1) {
      const value = Math.fround(point.values[column] ?? Number.NaN);
      if (!Object.is(values[place * valuesPerPoint + column], value)) return false;
    }
    return true;
  }

  timeOf(index: number): Instant | null {
    return this.#has(index) ? instantFromMs(this.#columns.times[this.#slot(index)] ?? 0) : null;
  }

  countOf(index: number, column: number): number | null {
    if (!this.#has(index)) return null;
    const count = this.#columns.counts[this.#slot(index) * this.#countsPerPoint + column];
    return count === undefined || count === MISSING_COUNT ? null : count;
  }

  size(): number {
    return this.#size;
  }

  #has(index: number): boolean {
    return index >= 0 && index < this.#size;
  }

  #slot(index: number): number {
    return (this.#start + index) % this.#capacity;
  }

  #write(place: number, point: Point): void {
    const { times, counts, values } = this.#columns;
    times[place] = point.at;
    for (let column = 0; column < this.#countsPerPoint; column += 1)
      counts[place * this.#countsPerPoint + column] = point.counts[column] ?? MISSING_COUNT;
    for (let column = 0; column < this.#valuesPerPoint; column += 1)
      values[place * this.#valuesPerPoint + column] = point.values[column] ?? Number.NaN;
  }

  #resize(next: number): void {
    const before = this.#columns;
    const kept = Math.min(this.#size, next);
    const places = Array.from({ length: kept }, (_, index) => this.#slot(this.#size - kept + index));
    const numbers = next * this.#countsPerPoint;
    const buffer = new ArrayBuffer(next * bytesPerPoint(this.#countsPerPoint, this.#valuesPerPoint));
    this.#columns = {
      times: new Float64Array(buffer, 0, next),
      counts: new Int32Array(buffer, 8 * next, numbers),
      values: new Float32Array(buffer, 8 * next + 4 * numbers, next * this.#valuesPerPoint),
    };
    copyRows(before.times, this.#columns.times, { places, width: 1 });
    copyRows(before.counts, this.#columns.counts, { places, width: this.#countsPerPoint });
    copyRows(before.values, this.#columns.values, { places, width: this.#valuesPerPoint });
    [this.#capacity, this.#start, this.#size] = [next, 0, kept];
  }
}

/** Copies numbers, not points: the rings of all scalers grow in the same rounds. */
function copyRows(
  from: Float64Array | Float32Array | Int32Array,
  to: Float64Array | Float32Array | Int32Array,
  { places, width }: { readonly places: readonly number[]; readonly width: number },
): void {
  for (const [row, place] of places.entries())
    for (let column = 0; column < width; column += 1)
      to[row * width + column] = from[place * width + column] ?? 0;
}

/** 4 bytes hold 7 digits; further digits are noise, as in 0.10000000149011612. */
function rounded(value: number): number {
  return Number(value.toPrecision(7));
}
