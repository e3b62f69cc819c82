import { EMPTY_LAYOUT, type SentLayout, type SeriesSplice } from './series-layout.js';

/** Series of successive rows whose absence is recognized without reading all later labels again. */
const MOST_GONE = 64;
/** Comparisons in search of the next known row, so that an answer in another order costs little more than a new one. */
const LOOKS_PER_SERIES = 2;

/** Compares the labels of an answer, series by series, with those of the last answer to the same query. */
export class LayoutChanges {
  /** Number of series that were added. */
  added = 0;
  readonly #body: Buffer;
  readonly #known: SentLayout;
  readonly #splices: OpenSplice[] = [];
  /** The row of `known` that the next series has if nothing has changed. */
  #next = 0;
  #looks: number;

  constructor(body: Buffer, known: SentLayout | null) {
    this.#body = body;
    this.#known = known ?? EMPTY_LAYOUT;
    this.#looks = LOOKS_PER_SERIES * this.#known.count;
  }

  /** Returns where known labels that start at `at` end; -1: they are not known, and are to be added. */
  skip(at: number): number {
    const next = this.#next;
    const known = this.#endOf(next, at);
    if (known !== -1) {
      this.#next = next + 1;
      return known;
    }
    const last = Math.min(next + MOST_GONE, this.#known.count - 1);
    for (let row = next + 1; row <= last && this.#looks > 0; row += 1) {
      this.#looks -= 1;
      const end = this.#endOf(row, at);
      if (end === -1) continue;
      this.#spliceHere().removed += row - next;
      this.#next = row + 1;
      return end;
    }
    return -1;
  }

  /** Adds a series. `items`: the number of its labels. */
  add(from: number, to: number, items: number): void {
    const splice = this.#spliceHere();
    splice.added += 1;
    this.added += 1;
    splice.items += items;
    splice.spans.push(from, to);
  }

  /** Returns the layout of the answer, which is the known one if nothing has changed. */
  layout(): SentLayout {
    const known = this.#known;
    const gone = known.count - this.#next;
    if (gone > 0) this.#spliceHere().removed += gone;
    return this.#splices.length === 0 ? known : known.spliced(this.#splices, this.#body);
  }

  #endOf(row: number, at: number): number {
    const { bytes, ends, count } = this.#known;
    if (row >= count) return -1;
    const body = this.#body;
    const end = ends[row] ?? 0;
    for (let index = row === 0 ? 0 : (ends[row - 1] ?? 0) + 1; index < end; index += 1)
      if (bytes[index] !== body[at++]) return -1;
    return at;
  }

  #spliceHere(): OpenSplice {
    const last = this.#splices.at(-1);
    if (last !== undefined && last.from + last.removed === this.#next) return last;
    const splice = { from: this.#next, removed: 0, added: 0, spans: [], items: 0 };
    this.#splices.push(splice);
    return splice;
  }
}

interface OpenSplice extends SeriesSplice {
  removed: number;
  added: number;
  items: number;
  readonly spans: number[];
}
