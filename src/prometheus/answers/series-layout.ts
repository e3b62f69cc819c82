import type { Labels, Series } from './series.js';

/** The labels of the series of an answer. Two answers with the same layout have the same labels in the same order. */
export interface SeriesLayout {
  readonly count: number;
  /** Each call reads them again. */
  readonly readLabels: () => readonly Labels[];
}

/** As the bytes that the server has sent, which are a quarter of the objects. */
export class SentLayout implements SeriesLayout {
  readonly count: number;
  /** JSON objects, each followed by a comma. */
  readonly bytes: Buffer;
  /** Where each object ends in `bytes`. */
  readonly ends: Int32Array;
  /** At least the number of labels. */
  readonly items: number;

  constructor(bytes: Buffer, ends: Int32Array, items: number) {
    this.count = ends.length;
    this.bytes = bytes;
    this.ends = ends;
    this.items = items;
  }

  readLabels(): readonly Labels[] {
    const list = this.bytes.toString('utf8', 0, this.ends.at(-1) ?? 0);
    // The bytes have been checked: objects with strings.
    return JSON.parse(`[${list}]`) as readonly Labels[];
  }
}

export class KnownLayout implements SeriesLayout {
  readonly count: number;
  readonly #series: readonly Series[];

  constructor(series: readonly Series[]) {
    this.count = series.length;
    this.#series = series;
  }

  readLabels(): readonly Labels[] {
    return this.#series.map(({ labels }) => labels);
  }
}
