import { formatInstant, type Instant, parseInstant } from '../../units/time.js';
import { MAX_REPLICAS } from '../../units/bounds.js';

/** A parsed JSON value with its path for error messages. */
export interface Field {
  readonly path: string;
  readonly value: unknown;
}

/** An error about the structure of JSON. The message contains the field, the value and the rule. */
export class JsonShapeError extends Error {
  override name = 'JsonShapeError';

  constructor(field: Field, rule: string) {
    super(`${field.path === '' ? 'the snapshot' : field.path} is ${print(field.value)}, must be ${rule}`);
  }
}

/**
 * Returns a value for a message. Lists and objects are not printed, because printing a deeply nested one would overflow
 * the stack.
 */
function print(value: unknown): string {
  if (value === undefined) return 'missing';
  if (Array.isArray(value)) return value.length === 0 ? '[]' : 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = typeof value === 'number' ? String(value) : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}...` : text;
}

/**
 * Returns the fields named in `known`. The value of an absent field is undefined. Throws `JsonShapeError` for a field
 * that is not in `known`.
 */
export function readObject<K extends string>(field: Field, known: readonly K[]): Readonly<Record<K, Field>> {
  const entries = readMap(field);
  const strange = [...entries.keys()].find((name) => !known.some((key) => key === name));
  if (strange !== undefined) {
    throw new JsonShapeError(
      at(field, strange, entries.get(strange)?.value),
      `omitted: the known fields are ${known.join(', ')}`,
    );
  }
  const fields = known.map((name) => [name, entries.get(name) ?? at(field, name, undefined)] as const);
  return Object.fromEntries(fields) as Record<K, Field>;
}

/** Returns the fields of an object whose field names are not fixed, such as pod names. */
export function readMap(field: Field): ReadonlyMap<string, Field> {
  const { value } = field;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new JsonShapeError(field, 'an object');
  }
  return new Map(Object.entries(value).map(([name, inner]) => [name, at(field, name, inner)]));
}

export function readArray(field: Field): readonly Field[] {
  if (!Array.isArray(field.value)) throw new JsonShapeError(field, 'a list');
  return field.value.map((value: unknown, index) => ({ path: `${field.path}[${index}]`, value }));
}

export function readString(field: Field): string {
  if (typeof field.value !== 'string') throw new JsonShapeError(field, 'a string');
  return field.value;
}

export function readBoolean(field: Field): boolean {
  if (typeof field.value !== 'boolean') throw new JsonShapeError(field, 'true or false');
  return field.value;
}

/** Returns a number, which may be infinite, because JSON can contain `1e999`. The decision rejects it. */
export function readNumber(field: Field): number {
  if (typeof field.value !== 'number') throw new JsonShapeError(field, 'a number');
  return withoutNegativeZero(field.value);
}

export function readInteger(field: Field, min: number): number {
  const { value } = field;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > MAX_REPLICAS) {
    throw new JsonShapeError(field, `an integer from ${min} to ${MAX_REPLICAS}`);
  }
  return withoutNegativeZero(value);
}

/**
 * Returns 0 for `-0`: JSON can contain `-0` but promscaler writes `0`, and a snapshot that is written and read again
 * must be equal.
 */
function withoutNegativeZero(value: number): number {
  return value === 0 ? 0 : value;
}

/**
 * Returns an instant from year 1 to 9999. Only UTC is accepted: an offset could move the instant out of the years that
 * RFC 3339 can express.
 */
export function readInstant(field: Field): Instant {
  const instant = typeof field.value === 'string' ? parseInstant(field.value) : null;
  if (instant === null || parseInstant(formatInstant(instant)) === null)
    throw new JsonShapeError(field, 'an RFC 3339 time such as 2026-01-01T00:00:00Z');
  return instant;
}

type Read<T> = (field: Field) => T;

/** The result of `readFields`. A field whose reader may return undefined is optional. */
type Fields<R extends Readonly<Record<string, Read<unknown>>>> = {
  readonly [K in keyof R as undefined extends ReturnType<R[K]> ? never : K]: ReturnType<R[K]>;
} & {
  readonly [K in keyof R as undefined extends ReturnType<R[K]> ? K : never]?: Exclude<
    ReturnType<R[K]>,
    undefined
  >;
};

/** Reads each field of an object. A field is omitted if its reader returns undefined. Throws like `readObject`. */
export function readFields<R extends Readonly<Record<string, Read<unknown>>>>(
  field: Field,
  readers: R,
): Fields<R> {
  const fields = readObject(field, Object.keys(readers));
  const values = Object.entries(readers).flatMap(([name, read]) => {
    const value = read(fields[name] ?? at(field, name, undefined));
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(values) as Fields<R>;
}

export function optional<T>(field: Field, read: Read<T>): T | null {
  return field.value === undefined || field.value === null ? null : read(field);
}

/** Returns a reader that returns null for a field that is absent or null. */
export function orNull<T>(read: Read<T>): Read<T | null> {
  return (field) => optional(field, read);
}

/** Returns a reader that returns `otherwise` for a field that is absent or null. */
export function orElse<T, const U>(read: Read<T>, otherwise: U): Read<T | U> {
  return (field) => optional(field, read) ?? otherwise;
}

export function ifSet<T>(read: Read<T>): Read<T | undefined> {
  return orElse(read, undefined);
}

export function listOf<T>(read: Read<T>): Read<readonly T[]> {
  return (field) => readArray(field).map(read);
}

export function mapOf<T>(read: Read<T>): Read<ReadonlyMap<string, T>> {
  return (field) => new Map([...readMap(field)].map(([name, inner]) => [name, read(inner)]));
}

export function integerFrom(min: number): Read<number> {
  return (field) => readInteger(field, min);
}

function at(parent: Field, name: string, value: unknown): Field {
  return { path: parent.path === '' ? name : `${parent.path}.${name}`, value };
}
