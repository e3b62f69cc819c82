import { type Instant, instantFromMs } from '../units/time.js';

/** The replica counts and the values of metrics at one time. Null: unknown, never 0. */
export interface Point {
  readonly at: Instant;
  readonly counts: readonly (number | null)[];
  readonly values: readonly (number | null)[];
}

export function bytesPerPoint(counts: number, values: number): number {
  return WORD_BYTES * (TIME_WORDS + counts + values);
}

const WORD_BYTES = 4;
const TIME_WORDS = 2;
const MISSING_COUNT = -1;
const MIN_CAPACITY = 16;

/** Converts numbers to bits and back, because a ring stores all its numbers as bits in a single array. */
const scratch = new ArrayBuffer(8);
const words = new Int32Array(scratch);
const float64 = new Float64Array(scratch);
const float32 = new Float32Array(scratch);

/** Returns the bits of a value, rounded to 4 bytes. Null becomes NaN. */
function bitsOf(value: number | null): number {
  float32[0] = value ?? Number.NaN;
  return words[0] ?? 0;
}

function valueOf(bits: number): number | null {
  words[0] = bits;
  const value = float32[0] ?? Number.NaN;
  return Number.isFinite(value) ? rounded(value) : null;
}

const NO_ROWS = new Int32Array(0);

/**
 * The newest points of a scaler, as rows of one typed array: 8 bytes for the time, and 4 bytes for each number. If it
 * used closures and one array per column, each of 20,000 rings would need 2 kB more, and a cycle would read from three
 * times as many places in memory.
 */
export class PointRing {
  readonly #counts: number;
  /** The number of 4-byte words in a row: 2 for the time, and 1 for each count and value. */
  readonly #width: number;
  #capacity = 0;
  #start = 0;
  #size = 0;
  #rows = NO_ROWS;

  constructor(countsPerPoint: number, valuesPerPoint: number) {
    this.#counts = countsPerPoint;
    this.#width = TIME_WORDS + countsPerPoint + valuesPerPoint;
  }

  /**
   * Adds a copy of a point, which must have as many counts and values as this ring. If there are more than `capacity`
   * points, the oldest points are dropped.
   */
  push(point: Point, capacity: number): void {
    const wanted = Math.max(1, Math.floor(capacity));
    if (this.#capacity > wanted) this.#resize(wanted);
    else if (this.#size === this.#capacity && this.#capacity < wanted)
      this.#resize(Math.min(wanted, Math.max(MIN_CAPACITY, 2 * this.#capacity)));
    if (this.#size < this.#capacity) this.#size += 1;
    else this.#start = (this.#start + 1) % this.#capacity;
    this.#write(this.#rowOf(this.#size - 1), point);
  }

  moveNewest(at: Instant): void {
    if (this.#size > 0) this.#writeTime(this.#rowOf(this.#size - 1), at);
  }

  /** Returns a point; index 0 is the oldest. Null: there is no such point. */
  get(index: number): Point | null {
    if (!this.#has(index)) return null;
    const row = this.#rowOf(index);
    const values = this.#rows.subarray(row + TIME_WORDS + this.#counts, row + this.#width);
    return { at: this.#timeAt(row), counts: this.countsOf(index), values: Array.from(values, valueOf) };
  }

  /**
   * Returns whether the point at `index` has the same numbers as `point`. Times are not compared. Values are compared
   * first, because they differ more often.
   */
  isEqual(index: number, point: Point): boolean {
    if (!this.#has(index)) return false;
    const rows = this.#rows;
    const firstCount = this.#rowOf(index) + TIME_WORDS;
    const firstValue = firstCount + this.#counts;
    const values = this.#width - TIME_WORDS - this.#counts;
    for (let column = 0; column < values; column += 1)
      if (rows[firstValue + column] !== bitsOf(point.values[column] ?? null)) return false;
    for (let column = 0; column < this.#counts; column += 1)
      if (rows[firstCount + column] !== (point.counts[column] ?? MISSING_COUNT)) return false;
    return true;
  }

  /** Returns the time of a point; null: there is no such point. Faster than `get`. */
  timeOf(index: number): Instant | null {
    return this.#has(index) ? this.#timeAt(this.#rowOf(index)) : null;
  }

  /** Returns one count of a point; null: it is unknown, or there is no such point. Faster than `get`. */
  countOf(index: number, column: number): number | null {
    if (!this.#has(index)) return null;
    const count = this.#rows[this.#rowOf(index) + TIME_WORDS + column];
    return count === undefined || count === MISSING_COUNT ? null : count;
  }

  /** Returns the counts of a point; empty: there is no such point. */
  countsOf(index: number): Point['counts'] {
    if (!this.#has(index)) return [];
    const first = this.#rowOf(index) + TIME_WORDS;
    const counts = this.#rows.subarray(first, first + this.#counts);
    return Array.from(counts, (count) => (count === MISSING_COUNT ? null : count));
  }

  size(): number {
    return this.#size;
  }

  #has(index: number): boolean {
    return index >= 0 && index < this.#size;
  }

  /** Returns the index of the first word of a point. */
  #rowOf(index: number): number {
    const offset = this.#start + index;
    return this.#width * (offset < this.#capacity ? offset : offset - this.#capacity);
  }

  #write(row: number, point: Point): void {
    this.#writeTime(row, point.at);
    const rows = this.#rows;
    const firstValue = row + TIME_WORDS + this.#counts;
    for (let column = 0; column < this.#counts; column += 1)
      rows[row + TIME_WORDS + column] = point.counts[column] ?? MISSING_COUNT;
    for (let column = 0; firstValue + column < row + this.#width; column += 1)
      rows[firstValue + column] = bitsOf(point.values[column] ?? null);
  }

  #writeTime(row: number, at: Instant): void {
    float64[0] = at;
    this.#rows[row] = words[0] ?? 0;
    this.#rows[row + 1] = words[1] ?? 0;
  }

  #timeAt(row: number): Instant {
    words[0] = this.#rows[row] ?? 0;
    words[1] = this.#rows[row + 1] ?? 0;
    return instantFromMs(float64[0] ?? 0);
  }

  /** Copies rows unchanged, for speed: the rings of all scalers grow in the same rounds. */
  #resize(next: number): void {
    const width = this.#width;
    const kept = Math.min(this.#size, next);
    const rows = new Int32Array(next * width);
    for (let index = 0; index < kept; index += 1) {
      const from = this.#rowOf(this.#size - kept + index);
      for (let word = 0; word < width; word += 1) rows[index * width + word] = this.#rows[from + word] ?? 0;
    }
    this.#rows = rows;
    [this.#capacity, this.#start, this.#size] = [next, 0, kept];
  }
}

/** Rounds to 7 digits, because 4 bytes have no more. Further digits are noise, as in 0.10000000149011612. */
function rounded(value: number): number {
  return Number(value.toPrecision(7));
}
