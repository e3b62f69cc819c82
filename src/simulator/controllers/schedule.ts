import type { Clock } from '../../units/clock.js';

/** Times are rounded up to a multiple of this, so that calls at nearly the same time share a timer. */
const GRAIN_MS = 20;

/** Calls a function for keys: for each key once, at the earliest of the times that were added for the key. */
export class Schedule {
  readonly #clock: Clock;
  readonly #callback: (key: string) => void;
  readonly #dueByKey = new Map<string, number>();
  readonly #buckets = new Map<number, { readonly keys: Set<string>; readonly cancel: () => void }>();

  constructor(clock: Clock, callback: (key: string) => void) {
    this.#clock = clock;
    this.#callback = callback;
  }

  /** Schedules a call for the key in `ms`, unless an earlier call is scheduled. Infinity: schedules nothing. */
  add(key: string, ms: number): void {
    if (!Number.isFinite(ms)) return;
    const nowMs = this.#clock.monotonicMs();
    const due = Math.ceil((nowMs + ms) / GRAIN_MS) * GRAIN_MS;
    const before = this.#dueByKey.get(key);
    if (before !== undefined && before <= due) return;
    if (before !== undefined) this.#buckets.get(before)?.keys.delete(key);
    this.#dueByKey.set(key, due);
    const bucket = this.#buckets.get(due);
    if (bucket === undefined) {
      const cancel = this.#clock.after(Math.min(due - nowMs, 2 ** 31 - 1), () => this.#run(due));
      this.#buckets.set(due, { keys: new Set([key]), cancel });
    } else bucket.keys.add(key);
  }

  close(): void {
    for (const { cancel } of this.#buckets.values()) cancel();
    this.#buckets.clear();
    this.#dueByKey.clear();
  }

  #run(due: number): void {
    const keys = this.#buckets.get(due)?.keys ?? new Set<string>();
    this.#buckets.delete(due);
    for (const key of keys) {
      if (this.#dueByKey.get(key) !== due) continue;
      this.#dueByKey.delete(key);
      this.#callback(key);
    }
  }
}
