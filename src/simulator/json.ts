/** What `JSON.parse` can give. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object; `undefined` members are left out when it is written. */
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** True for an object that is neither null nor a list. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at the end of a path of member names and list indices; undefined where a step is missing. */
export function valueAt(value: Json | undefined, ...path: readonly (string | number)[]): Json | undefined {
  let current = value;
  for (const step of path) {
    if (typeof step === 'number') current = isList(current) ? current[step] : undefined;
    else current = isObject(current) && Object.hasOwn(current, step) ? current[step] : undefined;
  }
  return current;
}

/** The object there, or an empty one. */
export function objectAt(value: Json | undefined, ...path: readonly (string | number)[]): JsonObject {
  const found = valueAt(value, ...path);
  return isObject(found) ? found : {};
}

/** The list there, or an empty one. */
export function listAt(value: Json | undefined, ...path: readonly (string | number)[]): readonly Json[] {
  const found = valueAt(value, ...path);
  return isList(found) ? found : [];
}

/** The text there, or null. */
export function stringAt(value: Json | undefined, ...path: readonly (string | number)[]): string | null {
  const found = valueAt(value, ...path);
  return typeof found === 'string' ? found : null;
}

/** The number there, or null. */
export function numberAt(value: Json | undefined, ...path: readonly (string | number)[]): number | null {
  const found = valueAt(value, ...path);
  return typeof found === 'number' ? found : null;
}

/** The members of the object there whose values are texts. */
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

/** True for a list. */
export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** Whether two values are the same, whatever the order of members; undefined members count as absent. */
export function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (isList(a) && isList(b)) return a.length === b.length && a.every((item, i) => sameJson(item, b[i]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  for (const key of keys) if (!sameJson(a[key], b[key])) return false;
  return true;
}
