import leven from 'leven';

const MOST_KEYS = 5;

/**
 * Suggests up to five keys (`NAMESPACE/NAME`) for a misspelled key: first the same name in other namespaces, then keys
 * within an edit distance of a third of the length.
 */
export function nearestKeys(key: string, keys: readonly string[]): readonly string[] {
  const name = nameOf(key);
  return keys
    .map((one) => ({ one, distance: nameOf(one) === name ? 0 : leven(key, one) }))
    .filter(({ distance }) => distance <= Math.max(2, Math.floor(key.length / 3)))
    .sort((a, b) => a.distance - b.distance || (a.one < b.one ? -1 : 1))
    .slice(0, MOST_KEYS)
    .map(({ one }) => one);
}

function nameOf(key: string): string {
  return key.slice(key.indexOf('/') + 1);
}
