/** A JSON object nobody has checked yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The value as an object, or null where it is none (a list is none). */
export function asObject(value: unknown): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

/** The member as an object; null where the parent or the member is missing or something else. */
export function objectIn(parent: JsonObject | null, key: string): JsonObject | null {
  return asObject(memberOf(parent, key));
}

/** The member as a text; null where it is missing or something else. An empty text stays one. */
export function textIn(parent: JsonObject | null, key: string): string | null {
  const value = memberOf(parent, key);
  return typeof value === 'string' ? value : null;
}

/** The member as a list; empty where it is missing or something else. */
export function listIn(parent: JsonObject | null, key: string): readonly unknown[] {
  const value = memberOf(parent, key);
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

/** The objects of a list member; what is no object is left out. */
export function objectsIn(parent: JsonObject | null, key: string): readonly JsonObject[] {
  return listIn(parent, key)
    .map(asObject)
    .filter((entry) => entry !== null);
}

/** The member as an integer from 0 to 2^53-1; null where it is missing or something else. */
export function countIn(parent: JsonObject | null, key: string): number | null {
  const value = memberOf(parent, key);
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** The text members of an object member, as in labels and annotations; what is no text is left out. */
export function textsIn(parent: JsonObject | null, key: string): Readonly<Record<string, string>> {
  const object = objectIn(parent, key);
  // Without a prototype: a label may be called `constructor`.
  const texts = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(object ?? {}))
    if (typeof value === 'string') texts[name] = value;
  return texts;
}

/** Own members only: an object that came over the wire must not answer with what its prototype has. */
function memberOf(parent: JsonObject | null, key: string): unknown {
  return parent !== null && Object.hasOwn(parent, key) ? parent[key] : undefined;
}
