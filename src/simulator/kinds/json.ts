/** A value that `JSON.parse` can return. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** An object whose members may be undefined. Serializing omits them. */
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value at a path of member names and list indexes; undefined: there is none. */
export function valueAt(value: Json | undefined, ...path: readonly (string | number)[]): Json | undefined {
  let current = value;
  for (const step of path) {
    if (typeof step === 'number') current = isList(current) ? current[step] : undefined;
    else current = isObject(current) && Object.hasOwn(current, step) ? current[step] : undefined;
  }
  return current;
}

/** Returns the object at the path; empty: there is none. */
export function objectAt(value: Json | undefined, ...path: readonly (string | number)[]): JsonObject {
  const found = valueAt(value, ...path);
  return isObject(found) ? found : {};
}

/** Returns the list at the path; empty: there is none. */
export function listAt(value: Json | undefined, ...path: readonly (string | number)[]): readonly Json[] {
  const found = valueAt(value, ...path);
  return isList(found) ? found : [];
}

/** Returns the string at the path, or null. */
export function stringAt(value: Json | undefined, ...path: readonly (string | number)[]): string | null {
  const found = valueAt(value, ...path);
  return typeof found === 'string' ? found : null;
}

/** Returns the number at the path, or null. */
export function numberAt(value: Json | undefined, ...path: readonly (string | number)[]): number | null {
  const found = valueAt(value, ...path);
  return typeof found === 'number' ? found : null;
}

/** Returns the members of the object at the path that have a string as value. */
export function stringsAt(
  value: Json | undefined,
  ...path: readonly (string | number)[]
): Readonly<Record<string, string>> {
  const strings: Record<string, string> = {};
  for (const [key, member] of Object.entries(objectAt(value, ...path))) {
    if (typeof member === 'string') strings[key] = member;
  }
  return strings;
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** Returns whether two values are equal, in any order of members. Undefined members count as absent. */
export function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (isList(a) && isList(b)) return a.length === b.length && a.every((item, i) => sameJson(item, b[i]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  for (const key of keys) if (!sameJson(a[key], b[key])) return false;
  return true;
}
