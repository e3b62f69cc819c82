import type { Instant } from './time.js';

/**
 * How long an unused entry is kept at least: longer than most sync periods, and short enough to free the values of
 * deleted documents.
 */
const KEEP_SECONDS = 600;

/**
 * A cache for values that can be derived again. An entry is dropped between `keepSeconds` and twice `keepSeconds` after
 * its last use, by the `now` of the callers. A WeakMap would be slower, because V8 visits its entries while the process
 * is stopped: 20,000 entries took 50 ms of each full garbage collection.
 */
export class RecentMap<K, V extends object | number> {
  readonly #keepMs: number;
  #recent = new Map<K, V>();
  #older = new Map<K, V>();
  #since: Instant | null = null;

  constructor(keepSeconds = KEEP_SECONDS) {
    this.#keepMs = keepSeconds * 1000;
  }

  get(key: K, now: Instant): V | undefined {
    this.#age(now);
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent;
    const older = this.#older.get(key);
    if (older !== undefined) this.#recent.set(key, older);
    return older;
  }

  set(key: K, value: V, now: Instant): void {
    this.#age(now);
    this.#recent.set(key, value);
  }

  /** Starts a new generation after `keepSeconds`. Uses the absolute difference, because the clock may be set back. */
  #age(now: Instant): void {
    this.#since ??= now;
    if (Math.abs(now - this.#since) < this.#keepMs) return;
    this.#since = now;
    this.#older = this.#recent;
    this.#recent = new Map();
  }
}

/**
 * Returns `build` with a cache: the same text returns the same object. The result of `build` must depend on the text
 * alone. The cache has no weak references, because each garbage collection would visit their tables. It is cleared when
 * it contains `most` strings.
 */
export function rememberByText<T>(build: (text: string) => T, most = 10_000): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    if (known.size >= most) known.clear();
    const built = build(text);
    known.set(text, built);
    return built;
  };
}
