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
  let capacity = 0;
  let start = 0;
  let size = 0;
  let times = new Float64Array(0);
  let counts = new Int32Array(0);
  let values = new Float32Array(0);

  const slot = (index: number): number => (start + index) % capacity;
  const write = (place: number, point: Point): void => {
    times[place] = point.at;
    for (let column = 0; column < countsPerPoint; column += 1)
      counts[place * countsPerPoint + column] = point.counts[column] ?? MISSING_COUNT;
    for (let column = 0; column < valuesPerPoint; column += 1)
      values[place * valuesPerPoint + column] = point.values[column] ?? Number.NaN;
  };
  const get = (index: number): Point | null => {
    if (index < 0 || index >= size) return null;
    const place = slot(index);
    const own = <T>(column: ArrayLike<T>, width: number): readonly T[] =>
      Array.from({ length: width }, (_, at) => column[place * width + at] as T);
    return {
      at: instantFromMs(times[place] ?? 0),
      counts: own(counts, countsPerPoint).map((count) => (count === MISSING_COUNT ? null : count)),
      values: own(values, valuesPerPoint).map((value) => (Number.isFinite(value) ? rounded(value) : null)),
    };
  };
  const resize = (next: number): void => {
    const kept = Array.from({ length: Math.min(size, next) }, (_, index) =>
      get(size - Math.min(size, next) + index),
    );
    [capacity, start, size] = [next, 0, 0];
    times = new Float64Array(next);
    counts = new Int32Array(next * countsPerPoint);
    values = new Float32Array(next * valuesPerPoint);
    for (const point of kept) if (point !== null) write(size++, point);
  };

  return {
    push: (point, room) => {
      const wanted = Math.max(1, Math.floor(room));
      if (capacity > wanted) resize(wanted);
      else if (size === capacity && capacity < wanted)
        resize(Math.min(wanted, Math.max(MIN_CAPACITY, 2 * capacity)));
      if (size < capacity) size += 1;
      else start = (start + 1) % capacity;
      write(slot(size - 1), point);
    },
    moveNewest: (at) => {
      if (size > 0) times[slot(size - 1)] = at;
    },
    get,
    isEqual: (index, point) => {
      if (index < 0 || index >= size) return false;
      const place = slot(index);
      for (let column = 0; column < countsPerPoint; column += 1)
        if (counts[place * countsPerPoint + column] !== (point.counts[column] ?? MISSING_COUNT)) return false;
      // Stored values are rounded to 4 bytes. Object.is treats NaN as equal to NaN.
      for (let column = 0; column < valuesPerPoint; column += 1) {
        const value = Math.fround(point.values[column] ?? Number.NaN);
        if (!Object.is(values[place * valuesPerPoint + column], value)) return false;
      }
      return true;
    },
    timeOf: (index) => (index < 0 || index >= size ? null : instantFromMs(times[slot(index)] ?? 0)),
    countOf: (index, column) => {
      const count = index < 0 || index >= size ? undefined : counts[slot(index) * countsPerPoint + column];
      return count === undefined || count === MISSING_COUNT ? null : count;
    },
    size: () => size,
  };
}

/** 4 bytes hold 7 digits; further digits are noise, as in 0.10000000149011612. */
function rounded(value: number): number {
  return Number(value.toPrecision(7));
}
