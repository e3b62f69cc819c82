import type { Json } from '../json.js';

/** How the values of a field look on the wire. */
export type Type = ScalarType | MapType | ListType | ObjectType;

/** `any`: whatever a client sends, kept as it is. */
export interface ScalarType {
  readonly is:
    'string' | 'int32' | 'int64' | 'bool' | 'time' | 'microTime' | 'intOrString' | 'quantity' | 'any';
}

/** Free keys, all values of one type; each key has an owner of its own. */
export interface MapType {
  readonly is: 'map';
  readonly of: Type;
}

/** With `keys`, items are told apart by them, merged, and owned one by one; without, the list is one value. */
export interface ListType {
  readonly is: 'list';
  readonly of: Type;
  readonly keys?: readonly string[];
}

/** Known fields. Atomic: owned and replaced as a whole by server-side apply. */
export interface ObjectType {
  readonly is: 'object';
  /** The name of the Go type, which decoding errors quote. */
  readonly go: string;
  readonly fields: Readonly<Record<string, Field>>;
  readonly isAtomic?: boolean;
}

/** A field of an object. */
export interface Field {
  readonly type: Type;
  /**
   * `value`: left out while it is empty (`omitempty`), an object never; `always`: written even when it is empty;
   * `pointer`: written when it is set, a zero included.
   */
  readonly mode: 'value' | 'always' | 'pointer';
  /** What the server fills in where it is empty. */
  readonly fallback?: Json;
}

export const string: ScalarType = { is: 'string' };
export const int32: ScalarType = { is: 'int32' };
export const int64: ScalarType = { is: 'int64' };
export const bool: ScalarType = { is: 'bool' };
/** RFC 3339 with whole seconds. */
export const time: ScalarType = { is: 'time' };
/** RFC 3339 with six decimals. */
export const microTime: ScalarType = { is: 'microTime' };
export const intOrString: ScalarType = { is: 'intOrString' };
/** `500m`, `1Gi`; a number becomes text. */
export const quantity: ScalarType = { is: 'quantity' };
export const any: ScalarType = { is: 'any' };

export function map(of: Type): MapType {
  return { is: 'map', of };
}

export function list(of: Type, keys?: readonly string[]): ListType {
  return keys === undefined ? { is: 'list', of } : { is: 'list', of, keys };
}

/** An object of the Go type `go`; a bare type is a field that is left out while it is empty. */
export function object(go: string, fields: Readonly<Record<string, Field | Type>>): ObjectType {
  const complete = Object.entries(fields).map(
    ([name, field]) => [name, 'mode' in field ? field : value(field)] as const,
  );
  return { is: 'object', go, fields: Object.fromEntries(complete) };
}

/** The same object, owned as a whole. */
export function atomic(type: ObjectType): ObjectType {
  return { ...type, isAtomic: true };
}

export function value(type: Type, fallback?: Json): Field {
  return withFallback({ type, mode: 'value' }, fallback);
}

export function always(type: Type, fallback?: Json): Field {
  return withFallback({ type, mode: 'always' }, fallback);
}

export function pointer(type: Type, fallback?: Json): Field {
  return withFallback({ type, mode: 'pointer' }, fallback);
}

function withFallback(field: Field, fallback: Json | undefined): Field {
  return fallback === undefined ? field : { ...field, fallback };
}
