import leven from 'leven';
import { didYouMean } from '../../scaler/problems/nearest.js';
import { listSome } from '../../units/format.js';

const MOST_KEYS = 5;

/**
 * Returns up to five keys (`NAMESPACE/NAME`) that the user may have meant: first the same name in other namespaces,
 * then keys with an edit distance of at most 2, or of a third of the length if that is more: of the name for a key in
 * the same namespace, otherwise of the whole key.
 */
function nearestKeys(key: string, keys: readonly string[]): readonly string[] {
  const name = nameOf(key);
  const namespace = key.slice(0, key.length - name.length);
  const lengthFor = (one: string): number => (one.startsWith(namespace) ? name : key).length;
  return keys
    .map((one) => ({ one, distance: nameOf(one) === name ? 0 : leven(key, one) }))
    .filter(({ one, distance }) => distance <= Math.max(2, Math.floor(lengthFor(one) / 3)))
    .sort((a, b) => a.distance - b.distance || (a.one < b.one ? -1 : 1))
    .slice(0, MOST_KEYS)
    .map(({ one }) => one);
}

function nameOf(key: string): string {
  return key.slice(key.indexOf('/') + 1);
}

/**
 * Returns a hint for a key that does not exist: similar keys, otherwise all keys, with the keys of the same namespace
 * first.
 */
export function keysHint(key: string, keys: readonly string[]): string {
  const near = nearestKeys(key, keys);
  if (near.length > 0) return `; similar: ${near.join(', ')}`;
  if (keys.length === 0) return '; there are no scalers';
  const namespace = key.slice(0, key.indexOf('/') + 1);
  const isNear = (one: string): boolean => one.startsWith(namespace);
  const shown = keys.toSorted((a, b) => Number(isNear(b)) - Number(isNear(a)) || (a < b ? -1 : 1));
  return `; scalers: ${listSome(shown, MOST_KEYS)}`;
}

const MAY_BE_REJECTED =
  '; if kubectl apply reported an error, the API server rejected the Scaler object, and promscaler validate FILE names the fields to correct';

/** Returns a hint for a scaler that the service does not have. A Scaler object that was rejected does not exist. */
export function scalersHint(key: string, keys: readonly string[]): string {
  const hint = keysHint(key, keys);
  return hint.startsWith('; similar') ? hint : `${hint}${MAY_BE_REJECTED}`;
}

/** Returns a hint for an object that does not exist in its namespace: a similar name, otherwise all names. */
export function namesHint(
  name: string,
  names: readonly string[],
  {
    namespace,
    plural,
    existing = 'existing',
  }: { readonly namespace: string; readonly plural: string; readonly existing?: string },
): string {
  if (names.length === 0) return `: namespace ${namespace} has no ${plural}`;
  const hint = didYouMean(name, names);
  return hint === '' ? `; ${existing} ${plural}: ${listSome(names)}` : hint;
}
