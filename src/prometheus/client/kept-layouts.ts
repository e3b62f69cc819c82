import type { Clock } from '../../units/clock.js';
import type { SentLayout } from '../answers/columns.js';

/** Limits the memory for the labels of all queries. The labels of 100,000 pods take 12 MB. */
const MAX_BYTES = 64 * 1024 * 1024;
/**
 * Labels that were not used for this time are dropped, so that the labels of deleted documents take no memory. Queries
 * that are sent less often parse their labels each time, which costs little.
 */
const KEEP_MS = 120_000;

/**
 * Keeps the labels of the last answer to each query of one url, because the next answer nearly always has the same
 * labels. If there is no room for the labels of all queries, the labels kept first stay: otherwise each query would
 * replace the labels of another one in each round.
 */
export class KeptLayouts {
  /** Least recently kept first. */
  readonly #kept = new Map<string, { readonly layout: SentLayout; readonly atMs: number }>();
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #bytes = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Returns the labels of the last answer to the query; null: they are not kept. */
  of(query: string): SentLayout | null {
    return this.#kept.get(query)?.layout ?? null;
  }

  /** Replaces the labels of the query; null: removes them. */
  keep(query: string, layout: SentLayout | null): void {
    const nowMs = this.#clock.monotonicMs();
    this.#remove(query);
    for (const [text, { atMs }] of this.#kept) {
      if (nowMs - atMs <= KEEP_MS) break;
      this.#remove(text);
    }
    if (layout === null || this.#bytes + sizeOf(layout) > MAX_BYTES) return;
    this.#kept.set(query, { layout, atMs: nowMs });
    this.#bytes += sizeOf(layout);
  }

  #remove(query: string): void {
    const kept = this.#kept.get(query);
    if (kept === undefined) return;
    this.#kept.delete(query);
    this.#bytes -= sizeOf(kept.layout);
  }
}

/** Includes a fixed size for the entry, so that answers without series are limited, too. */
function sizeOf({ bytes, ends }: SentLayout): number {
  return 200 + bytes.length + ends.byteLength;
}
