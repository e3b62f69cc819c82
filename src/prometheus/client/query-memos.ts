import type { Clock } from '../../units/clock.js';
import type { SentLayout } from '../answers/columns.js';

/** What the last answer to a query says about the next one. */
export class QueryMemo {
  /** When the query was last sent, and when before that. */
  usedMs = -Infinity;
  usedBeforeMs = -Infinity;
  /** Whether the memo was dropped while its query was being answered. */
  isDropped = false;
  #layout: SentLayout | null = null;
  readonly #memos: QueryMemos;

  constructor(memos: QueryMemos) {
    this.#memos = memos;
  }

  /** The labels of the series; null: not known. */
  get layout(): SentLayout | null {
    return this.#layout;
  }

  set layout(layout: SentLayout | null) {
    if (layout === this.#layout) return;
    this.#memos.bytes -= sizeOf(this.#layout);
    this.#layout = null;
    if (this.isDropped || !this.#memos.hasRoom(sizeOf(layout), this.usedBeforeMs)) return;
    this.#layout = layout;
    this.#memos.bytes += sizeOf(layout);
  }
}

const MAX_QUERIES = 20_000;
/** Of the labels of all queries: those of 100,000 pods have 12 MB. */
const MAX_LAYOUT_BYTES = 64 * 1024 * 1024;
/** A query that is sent less often costs little to read from scratch. Frees what queries of deleted documents had. */
const KEEP_MS = 600_000;

/** The memos of one url. A memo is dropped when its query has not been sent for 10 minutes. */
export class QueryMemos {
  /** Bytes of all layouts. */
  bytes = 0;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** The query that has not been sent for the longest time comes first. */
  readonly #memos = new Map<string, QueryMemo>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  of(query: string): QueryMemo {
    const nowMs = this.#clock.monotonicMs();
    const memo = this.#memos.get(query) ?? new QueryMemo(this);
    memo.usedBeforeMs = memo.usedMs;
    memo.usedMs = nowMs;
    this.#memos.delete(query);
    this.#memos.set(query, memo);
    for (const [text, { usedMs }] of this.#memos) {
      if (nowMs - usedMs <= KEEP_MS && this.#memos.size <= MAX_QUERIES) break;
      this.#drop(text);
    }
    return memo;
  }

  /**
   * Whether a layout may be kept for a query that was sent before at `usedBeforeMs`. If there is no room, drops queries
   * that have not been sent since then: they are no longer used, or used less often. Dropping others would only
   * replace one query by another in each round.
   */
  hasRoom(bytes: number, usedBeforeMs: number): boolean {
    for (const [text, { usedMs }] of this.#memos) {
      if (this.bytes + bytes <= MAX_LAYOUT_BYTES || usedMs >= usedBeforeMs) break;
      this.#drop(text);
    }
    return this.bytes + bytes <= MAX_LAYOUT_BYTES;
  }

  #drop(query: string): void {
    const memo = this.#memos.get(query);
    this.#memos.delete(query);
    if (memo === undefined) return;
    memo.layout = null;
    memo.isDropped = true;
  }
}

function sizeOf(layout: SentLayout | null): number {
  return layout === null ? 0 : layout.bytes.length + layout.ends.byteLength;
}
