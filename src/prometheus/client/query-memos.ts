import type { SentLayout } from '../answers/series-layout.js';

/** What the last answer to a query says about the next one. */
export class QueryMemo {
  /** As a parameter of a form. */
  readonly encoded: string;
  /** Compressing and decompressing 1 KiB costs both sides more than sending it. */
  isSmall = false;
  #layout: SentLayout | null = null;
  readonly #kept: { bytes: number };

  constructor(query: string, kept: { bytes: number }) {
    this.encoded = new URLSearchParams({ query }).toString();
    this.#kept = kept;
  }

  /** The labels of the series; null: not known. */
  get layout(): SentLayout | null {
    return this.#layout;
  }

  set layout(layout: SentLayout | null) {
    if (layout === this.#layout) return;
    this.#kept.bytes -= sizeOf(this.#layout);
    this.#layout = this.#kept.bytes + sizeOf(layout) > MAX_LAYOUT_BYTES ? null : layout;
    this.#kept.bytes += sizeOf(this.#layout);
  }
}

export interface QueryMemos {
  readonly of: (query: string) => QueryMemo;
}

/** Of a decompressed answer. */
export const SMALL_BYTES = 4096;
/** Above this number everything is forgotten, including queries of deleted documents. */
const MAX_QUERIES = 20_000;
/** Of the labels of all queries: those of 100,000 pods have 12 MB. */
const MAX_LAYOUT_BYTES = 64 * 1024 * 1024;

export function createQueryMemos(): QueryMemos {
  const memos = new Map<string, QueryMemo>();
  let kept = { bytes: 0 };
  return {
    of: (query) => {
      let memo = memos.get(query);
      if (memo === undefined) {
        if (memos.size >= MAX_QUERIES) {
          memos.clear();
          kept = { bytes: 0 };
        }
        memos.set(query, (memo = new QueryMemo(query, kept)));
      }
      return memo;
    },
  };
}

function sizeOf(layout: SentLayout | null): number {
  return layout === null ? 0 : layout.bytes.length + layout.ends.byteLength;
}
