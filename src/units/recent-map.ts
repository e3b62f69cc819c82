import type { Instant } from './time.js';

/** Longer than most sync periods, and short enough to free the values of deleted documents. */
const KEEP_SECONDS = 600;

/**
 * A two-generation cache: drops an entry between `keepSeconds` and 2 x `keepSeconds` after its last use, by the `now` of
 * its callers. For values that can be derived again. V8 visits the entries of a WeakMap while the process is stopped:
 * 20,000 of them took 50 ms of each full garbage collection.
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

  /** Absolute difference, because the clock may be set back. */
  #age(now: Instant): void {
    this.#since ??= now;
    if (Math.abs(now - this.#since) < this.#keepMs) return;
    this.#since = now;
    this.#older = this.#recent;
    this.#recent = new Map();
  }
}

/**
 * Caches `build`, which must depend on the text alone: the same text returns the same object. Uses no weak references,
 * whose tables each garbage collection visits. At `most` texts, the cache is cleared.
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
