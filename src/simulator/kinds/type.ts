import type { Json } from './json.js';

/** The type of a field, like the Go types of the API. */
export type Type = ScalarType | MapType | ListType | ObjectType;

/** `any`: kept unchanged. */
export interface ScalarType {
  readonly is:
    'string' | 'int32' | 'int64' | 'bool' | 'time' | 'microTime' | 'intOrString' | 'quantity' | 'any';
}

/** Any keys with values of one type. Each key has an owner. */
interface MapType {
  readonly is: 'map';
  readonly of: Type;
}

/** With `keys`, items are identified, merged and owned by key. Without keys, the list is one value. */
export interface ListType {
  readonly is: 'list';
  readonly of: Type;
  readonly keys?: readonly string[];
}

/** Atomic: server-side apply owns and replaces the object as a whole. */
export interface ObjectType {
  readonly is: 'object';
  /** Name of the Go type, for decoding errors. */
  readonly go: string;
  readonly fields: Readonly<Record<string, Field>>;
  readonly isAtomic?: boolean;
}

export interface Field {
  readonly type: Type;
  /**
   * `value`: omitted if empty, except objects; `always`: written even if empty; `pointer`: written if set, even to 0.
   */
  readonly mode: 'value' | 'always' | 'pointer';
  /** Default that the server sets. */
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
/** A quantity such as `500m` or `1Gi`. A number becomes a string. */
export const quantity: ScalarType = { is: 'quantity' };
export const any: ScalarType = { is: 'any' };

export function map(of: Type): MapType {
  return { is: 'map', of };
}

export function list(of: Type, keys?: readonly string[]): ListType {
  return keys === undefined ? { is: 'list', of } : { is: 'list', of, keys };
}

/** Returns an object with the Go type `go`. A bare type as field has the mode `value`. */
export function object(go: string, fields: Readonly<Record<string, Field | Type>>): ObjectType {
  const complete = Object.entries(fields).map(
    ([name, field]) => [name, 'mode' in field ? field : value(field)] as const,
  );
  return { is: 'object', go, fields: Object.fromEntries(complete) };
}

export function atomic(type: ObjectType): ObjectType {
  return { ...type, isAtomic: true };
}

export function value(type: Type, fallback?: Json): Field {
  return withFallback({ type, mode: 'value' }, fallback);
}

export function always(type: Type): Field {
  return { type, mode: 'always' };
}

export function pointer(type: Type, fallback?: Json): Field {
  return withFallback({ type, mode: 'pointer' }, fallback);
}

function withFallback(field: Field, fallback: Json | undefined): Field {
  return fallback === undefined ? field : { ...field, fallback };
}

export function memberType(type: Type, name: string): Type {
  if (type.is === 'object') return type.fields[name]?.type ?? any;
  return type.is === 'map' ? type.of : any;
}
