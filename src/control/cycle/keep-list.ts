/**
 * Returns the list of the last cycle if the new one has the same elements in the same order, otherwise the new one. What
 * was computed from a list, and kept by its identity, is then found again.
 */
export function keepList<T>(before: readonly T[] | undefined, list: readonly T[]): readonly T[] {
  if (before?.length !== list.length) return list;
  for (let index = 0; index < list.length; index += 1) if (before[index] !== list[index]) return list;
  return before;
}
