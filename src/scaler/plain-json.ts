/** Keys and list indexes, from the outermost to the innermost. */
type Path = readonly (string | number)[];

/** Limits recursion into a document. Documents that people write have fewer levels. */
export const MAX_DEPTH = 64;

export type PlainObject = Readonly<Record<string, unknown>>;

/** Returns whether a value is an object, and neither a list nor null. */
export function isPlainObject(value: unknown): value is PlainObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value if it is an object; null for lists and all other values. */
export function asObject(value: unknown): PlainObject | null {
  return isPlainObject(value) ? value : null;
}

export function valueAt(value: unknown, path: Path): unknown {
  let current = value;
  for (const step of path) {
    if (typeof step === 'number') current = Array.isArray(current) ? (current as unknown[])[step] : undefined;
    else current = isPlainObject(current) && Object.hasOwn(current, step) ? current[step] : undefined;
  }
  return current;
}

/**
 * Returns a copy without the part at `path`. An entry of a list becomes undefined, so that the other entries keep their
 * indexes.
 */
export function without(value: unknown, path: Path): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return undefined;
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => (index === step ? without(item, rest) : item));
  }
  if (!isPlainObject(value) || typeof step === 'number' || !Object.hasOwn(value, step)) return value;
  const { [step]: member, ...others } = value;
  return rest.length === 0 ? others : { ...others, [step]: without(member, rest) };
}

/** Merges objects key by key. Any other value in `over`, even null, replaces the value in `base`. */
export function mergePlain(base: unknown, over: unknown): unknown {
  if (over === undefined) return base;
  if (!isPlainObject(base) || !isPlainObject(over)) return over;
  const merged = new Map<string, unknown>(Object.entries(base));
  for (const [key, member] of Object.entries(over)) merged.set(key, mergePlain(merged.get(key), member));
  return Object.fromEntries(merged);
}

export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
}
