import { asObject } from '../../scaler/plain-json.js';
import { type Instant, parseInstant } from '../../units/time.js';

export type JsonObject = Readonly<Record<string, unknown>>;

export function objectIn(parent: JsonObject | null, key: string): JsonObject | null {
  return asObject(memberOf(parent, key));
}

export function textIn(parent: JsonObject | null, key: string): string | null {
  const value = memberOf(parent, key);
  return typeof value === 'string' ? value : null;
}

export function listIn(parent: JsonObject | null, key: string): readonly unknown[] {
  const value = memberOf(parent, key);
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

export function objectsIn(parent: JsonObject | null, key: string): readonly JsonObject[] {
  return listIn(parent, key)
    .map(asObject)
    .filter((entry) => entry !== null);
}

/** Returns an integer from 0 to 2^53-1; null: the field is missing or has another value. */
export function countIn(parent: JsonObject | null, key: string): number | null {
  const value = memberOf(parent, key);
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** Returns an RFC 3339 time; null: the field is missing or has another value. */
export function instantIn(parent: JsonObject | null, key: string): Instant | null {
  const text = textIn(parent, key);
  return text === null ? null : parseInstant(text);
}

/** Returns those members of an object that are strings, such as labels and annotations. */
export function textsIn(parent: JsonObject | null, key: string): Readonly<Record<string, string>> {
  const object = objectIn(parent, key);
  // The object has no prototype, because a label may be named `constructor`.
  const texts = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(object ?? {}))
    if (typeof value === 'string') texts[name] = value;
  return texts;
}

/** Returns only own members, so that parsed JSON does not expose members of its prototype. */
function memberOf(parent: JsonObject | null, key: string): unknown {
  return parent !== null && Object.hasOwn(parent, key) ? parent[key] : undefined;
}

/**
 * The parts of a runtime error that can be reported safely. The error itself may contain a whole request with its
 * token.
 */
interface ErrorFacts {
  /** A code such as `ENOENT` or `ECONNREFUSED`; empty: the error has none. */
  readonly code: string;
  readonly message: string;
}

/**
 * Returns the code and message of a thrown value. Does not use `instanceof`, because the error may come from another
 * realm.
 */
export function errorFacts(cause: unknown): ErrorFacts {
  if (typeof cause === 'string') return { code: '', message: cause };
  const error = asObject(cause);
  const inherited = error?.['message'];
  return {
    code: textIn(error, 'code') ?? '',
    message: typeof inherited === 'string' ? inherited : '',
  };
}
