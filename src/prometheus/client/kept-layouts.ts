import type { Clock } from '../../units/clock.js';
import type { SentLayout } from '../answers/columns.js';

/** The limit of the labels of all queries. The labels of 100,000 pods take 12 MB. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Frees the labels of deleted documents. Labels of a query that is sent less often cost little to read again. */
const KEEP_MS = 120_000;

/**
 * The labels in the last answer to each query of one url, which the next answer nearly always repeats. If there is no
 * room for all queries, the first ones stay: otherwise all would replace each other in each round.
 */
export class KeptLayouts {
  /** Least recently kept first. */
  readonly #kept = new Map<string, { readonly layout: SentLayout; readonly atMs: number }>();
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #bytes = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Returns null if the labels are not known. */
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

/** Includes the fixed cost of an entry: an answer without series has no labels. */
function sizeOf({ bytes, ends }: SentLayout): number {
  return 200 + bytes.length + ends.byteLength;
}
