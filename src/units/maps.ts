/** Returns the items by key, in the order of their first items. Takes linear time. */
export function groupBy<K, T>(items: Iterable<T>, keyOf: (item: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** Throws `Error` if the map does not have the key. */
export function mustGet<K, V>(map: ReadonlyMap<K, V>, key: K, name = String(key)): V {
  const value = map.get(key);
  if (value === undefined) throw new Error(`${name} is not in the map`);
  return value;
}

/** Returns a function that computes the result for each object once. */
export function cached<K extends object, V>(compute: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, V>();
  return (key) => {
    const value = known.get(key) ?? compute(key);
    known.set(key, value);
    return value;
  };
}
