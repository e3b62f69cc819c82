import type { Instant } from '../units/time.js';

/** Returns the entries from `start` on, and the added one, which is later; null: none is added. */
export function recent<T extends { readonly at: Instant }>(
  entries: readonly T[],
  added: T | null,
  start: Instant,
): readonly T[] {
  let old = 0;
  for (const { at } of entries) {
    if (at >= start) break;
    old += 1;
  }
  if (!entries.every(({ at }, index) => index < old || at >= start)) {
    const kept = entries.filter(({ at }) => at >= start);
    return added === null ? kept : kept.concat(added);
  }
  if (added === null) return old === 0 ? entries : entries.slice(old);
  // `concat` returns a list without room to grow, which the memory of each scaler would keep.
  return old === 0 ? entries.concat(added) : movedOn(entries, old, added);
}

/** Drops the first entries, at least one, and adds one. Allocates only the list that the memory of the scaler keeps. */
function movedOn<T>(entries: readonly T[], dropped: number, added: T): readonly T[] {
  const moved = entries.slice(dropped - 1);
  let place = 0;
  for (let index = dropped; index < entries.length; index += 1) moved[place++] = entries[index] ?? added;
  moved[place] = added;
  return moved;
}
