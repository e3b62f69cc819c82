import { indexPods, type PodIndex, type RowSplice } from './pod-index.js';
import type { Labels, Series } from './series.js';

/** The labels of the series of an answer. Two answers with the same layout have the same labels in the same order. */
export interface SeriesLayout {
  readonly count: number;
  /** Each call reads them again. */
  readonly readLabels: () => readonly Labels[];
  /** Built by the first call. Lives at least as long as something refers to it. */
  readonly podIndex: () => PodIndex;
}

/** New series instead of some of a layout. */
export interface SeriesSplice extends RowSplice {
  /** Where the labels of each new series start and end in the body of its answer. */
  readonly spans: readonly number[];
  /** The number of their labels. */
  readonly items: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
/** A layout of which more than this share has changed is indexed again as a whole. */
const MOST_SPLICED = 0.25;

/** As the bytes that the server has sent, which are a quarter of the objects. */
export class SentLayout implements SeriesLayout {
  readonly count: number;
  /** JSON objects, each followed by a comma. */
  readonly bytes: Buffer;
  /** Where each object ends in `bytes`. */
  readonly ends: Int32Array;
  /** The number of labels. */
  readonly items: number;
  /** Weak: the layouts of queries that are no longer asked are kept for a while, and need none. */
  #podIndex: WeakRef<PodIndex> | null = null;

  constructor(bytes: Buffer, ends: Int32Array, items: number) {
    this.count = ends.length;
    this.bytes = bytes;
    this.ends = ends;
    this.items = items;
  }

  /** Returns the layout after splices, in ascending order, with labels from `body`, and its index if this one has one. */
  spliced(splices: readonly SeriesSplice[], body: Buffer): SentLayout {
    let changed = 0;
    let { count, items } = this;
    let size = this.bytes.length;
    for (const splice of splices) {
      const { from, removed, added, spans } = splice;
      changed += removed + added;
      count += added - removed;
      items += splice.items;
      for (let row = from; row < from + removed; row += 1) items -= this.#itemsOf(row);
      size -= this.#startOf(from + removed) - this.#startOf(from);
      for (let at = 0; at < spans.length; at += 2) size += (spans[at + 1] ?? 0) - (spans[at] ?? 0) + 1;
    }
    const layout = new SentLayout(Buffer.allocUnsafe(size), new Int32Array(count), items);
    this.#copyRows(splices, body, layout);
    const index = this.#podIndex?.deref();
    if (index !== undefined && changed <= MOST_SPLICED * this.count)
      layout.#keep(
        index.spliced(
          splices,
          (row) => this.#labelsOf(row),
          (row) => layout.#labelsOf(row),
        ),
      );
    return layout;
  }

  readLabels(): readonly Labels[] {
    const list = this.bytes.toString('utf8', 0, this.ends.at(-1) ?? 0);
    // The bytes have been checked: objects with strings.
    return JSON.parse(`[${list}]`) as readonly Labels[];
  }

  podIndex(): PodIndex {
    return this.#podIndex?.deref() ?? this.#keep(indexPods(this.readLabels()));
  }

  #keep(index: PodIndex): PodIndex {
    this.#podIndex = new WeakRef(index);
    return index;
  }

  #copyRows(splices: readonly SeriesSplice[], body: Buffer, { bytes, ends }: SentLayout): void {
    let row = 0;
    let to = 0;
    const keep = (from: number, end: number): void => {
      const start = this.#startOf(from);
      const shift = to - start;
      for (let kept = from; kept < end; kept += 1) ends[row++] = (this.ends[kept] ?? 0) + shift;
      to += this.bytes.copy(bytes, to, start, this.#startOf(end));
    };
    let next = 0;
    for (const { from, removed, spans } of splices) {
      keep(next, from);
      next = from + removed;
      for (let at = 0; at < spans.length; at += 2) {
        to += body.copy(bytes, to, spans[at], spans[at + 1]);
        ends[row++] = to;
        bytes[to++] = COMMA;
      }
    }
    keep(next, this.count);
  }

  #startOf(row: number): number {
    return row === 0 ? 0 : (this.ends[row - 1] ?? 0) + 1;
  }

  #labelsOf(row: number): Labels {
    return JSON.parse(this.bytes.toString('utf8', this.#startOf(row), this.ends[row])) as Labels;
  }

  /** Each label is two strings. */
  #itemsOf(row: number): number {
    const { bytes } = this;
    const end = this.ends[row] ?? 0;
    let quotes = 0;
    for (let at = this.#startOf(row); at < end; at += 1) {
      const byte = bytes[at];
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) quotes += 1;
    }
    return quotes / 4;
  }
}

export const EMPTY_LAYOUT = new SentLayout(Buffer.alloc(0), new Int32Array(0), 0);

export class KnownLayout implements SeriesLayout {
  readonly count: number;
  readonly #series: readonly Series[];
  #podIndex: PodIndex | null = null;

  constructor(series: readonly Series[]) {
    this.count = series.length;
    this.#series = series;
  }

  readLabels(): readonly Labels[] {
    return this.#series.map(({ labels }) => labels);
  }

  podIndex(): PodIndex {
    return (this.#podIndex ??= indexPods(this.readLabels()));
  }
}
