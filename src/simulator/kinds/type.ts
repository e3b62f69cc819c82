import type { Json } from './json.js';

/** The type of a field, as in the Go types of the API. */
export type Type = ScalarType | MapType | ListType | ObjectType;

/** A value without fields of its own. `any`: any JSON value, which is kept unchanged. */
export interface ScalarType {
  readonly is:
    'string' | 'int32' | 'int64' | 'bool' | 'time' | 'microTime' | 'intOrString' | 'quantity' | 'any';
}

/** An object with any keys, whose values have the same type. Each key has an owner. */
interface MapType {
  readonly is: 'map';
  readonly of: Type;
}

/**
 * `keys`: the fields that identify an item, so that items are merged and owned separately. Without keys, the list is
 * merged and owned as a whole.
 */
export interface ListType {
  readonly is: 'list';
  readonly of: Type;
  readonly keys?: readonly string[];
}

/** `isAtomic`: server-side apply owns and replaces the object as a whole. */
export interface ObjectType {
  readonly is: 'object';
  /** The name of the Go type, for the messages of decoding errors. */
  readonly go: string;
  readonly fields: Readonly<Record<string, Field>>;
  readonly isAtomic?: boolean;
}

export interface Field {
  readonly type: Type;
  /**
   * When the encoded object contains the field. `value`: if it is not empty, or is an object. `always`: even if it is
   * unset. `pointer`: if it is set, even to 0.
   */
  readonly mode: 'value' | 'always' | 'pointer';
  /** The default that the server sets if the field is unset. */
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
/** A quantity such as `500m` or `1Gi`. A number is converted to a string. */
export const quantity: ScalarType = { is: 'quantity' };
export const any: ScalarType = { is: 'any' };

export function map(of: Type): MapType {
  return { is: 'map', of };
}

export function list(of: Type, keys?: readonly string[]): ListType {
  return keys === undefined ? { is: 'list', of } : { is: 'list', of, keys };
}

/** Returns an object type with the Go name `go`. A field that is given as a type has the mode `value`. */
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
