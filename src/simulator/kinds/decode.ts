import { type Json, type JsonObject, isList, isObject } from './json.js';
import type { Field, ListType, ObjectType, ScalarType, Type } from './type.js';

/** Thrown if a value has the wrong type for its field. The message is the same as in the real server. */
export class DecodeError extends Error {
  override name = 'DecodeError';
}

export interface Decoding {
  /** A list to which the paths of unknown fields are added. Unknown fields are always dropped. */
  readonly unknown?: string[];
  readonly isCompleted?: boolean;
}

interface FieldLocation {
  readonly path: string;
  readonly go: string;
}

/**
 * Returns an object as the server would after decoding and encoding it: without unknown and empty fields, and with
 * fields that are always written. Throws `DecodeError`.
 */
export function decode(type: ObjectType, value: JsonObject, decoding: Decoding = {}): JsonObject {
  return decodeObject(type, value, { path: '', go: type.go }, decoding);
}

function decodeObject(
  type: ObjectType,
  value: JsonObject,
  { path }: FieldLocation,
  decoding: Decoding,
): JsonObject {
  const result: Record<string, Json> = {};
  for (const [name, field] of Object.entries(type.fields)) {
    const location = { path: path === '' ? name : `${path}.${name}`, go: type.go };
    const member = decodeField(field, value[name], location, decoding);
    if (member !== undefined) result[name] = member;
  }
  if (decoding.unknown !== undefined) {
    for (const name of Object.keys(value)) {
      if (value[name] === undefined || Object.hasOwn(type.fields, name)) continue;
      decoding.unknown.push(path === '' ? name : `${path}.${name}`);
    }
  }
  return result;
}

function decodeField(
  field: Field,
  value: Json | undefined,
  location: FieldLocation,
  decoding: Decoding,
): Json | undefined {
  const { type, mode, fallback } = field;
  const isSet = value !== undefined && value !== null;
  const decoded = isSet ? decodeValue(type, value, location, decoding) : undefined;
  const isFilled = mode === 'pointer' ? decoded !== undefined : decoded !== undefined && !isEmpty(decoded);
  if (isFilled || (type.is === 'object' && decoded !== undefined)) return decoded;
  if (fallback !== undefined && decoding.isCompleted === true) return fallback;
  if (mode === 'pointer') return undefined;
  if (type.is === 'object') return decodeObject(type, {}, location, decoding);
  if (type.is === 'time' || type.is === 'microTime') return mode === 'always' ? null : undefined;
  return mode === 'always' ? zeroOf(type) : undefined;
}

function isEmpty(value: Json): boolean {
  if (isList(value)) return value.length === 0;
  if (isObject(value)) return Object.keys(value).length === 0;
  return value === '' || value === 0 || value === false || value === null;
}

function zeroOf(type: Type): Json {
  if (type.is === 'int32' || type.is === 'int64' || type.is === 'intOrString') return 0;
  if (type.is === 'bool') return false;
  return type.is === 'string' || type.is === 'quantity' ? '' : null;
}

function decodeValue(type: Type, value: Json, location: FieldLocation, decoding: Decoding): Json {
  switch (type.is) {
    case 'object':
      if (!isObject(value)) throw mismatch(value, location, type.go);
      return decodeObject(type, value, location, decoding);
    case 'map':
      if (!isObject(value)) throw mismatch(value, location, 'map[string]string');
      return decodeMembers(type.of, value, location, decoding);
    case 'list':
      return decodeList(type, value, location, decoding);
    default:
      return decodeScalar(type, value, location);
  }
}

function decodeMembers(
  type: Type,
  value: JsonObject,
  { path, go }: FieldLocation,
  decoding: Decoding,
): JsonObject {
  const result: Record<string, Json> = {};
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    // The real server decodes null as the zero value. In its errors, the path ends with the map and does not contain
    // the key.
    const read = member === null ? zeroOf(type) : member;
    result[key] = decodeValue(type, read, { path, go }, decoding);
  }
  return result;
}

function decodeList(type: ListType, value: Json, { path, go }: FieldLocation, decoding: Decoding): Json {
  if (!isList(value)) throw mismatch(value, { path, go }, `[]${typeName(type.of)}`);
  return value.map((item, index) => {
    const location = { path: `${path}[${index}]`, go };
    if (item !== null) return decodeValue(type.of, item, location, decoding);
    return type.of.is === 'object' ? decodeObject(type.of, {}, location, decoding) : zeroOf(type.of);
  });
}

const QUANTITY = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+|[KMGTPE]i|[numkMGTPE]?)$/;
const TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
const MICRO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)$/;
const ACCEPTS: Readonly<
  Record<'string' | 'bool' | 'int32' | 'int64' | 'intOrString', (value: Json) => boolean>
> = {
  string: (value) => typeof value === 'string',
  bool: (value) => typeof value === 'boolean',
  int32: (value) => Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 31,
  int64: (value) => Number.isSafeInteger(value),
  intOrString: (value) => typeof value === 'string' || Number.isInteger(value),
};

function decodeScalar(type: ScalarType, value: Json, location: FieldLocation): Json {
  switch (type.is) {
    case 'any':
      return value;
    case 'quantity':
      if (typeof value !== 'number' && !(typeof value === 'string' && QUANTITY.test(value)))
        throw new DecodeError(
          "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        );
      return String(value);
    case 'time':
      return decodeTime(value, location, { pattern: TIME, layout: '2006-01-02T15:04:05Z07:00' });
    case 'microTime':
      return decodeTime(value, location, { pattern: MICRO_TIME, layout: '2006-01-02T15:04:05.000000Z07:00' });
    default:
      if (!ACCEPTS[type.is](value))
        throw mismatch(value, location, type.is === 'intOrString' ? 'intstr.IntOrString' : type.is);
      return value;
  }
}

function decodeTime(
  value: Json,
  location: FieldLocation,
  { pattern, layout }: { readonly pattern: RegExp; readonly layout: string },
): string {
  if (typeof value !== 'string') throw mismatch(value, location, 'string');
  if (pattern.test(value) && !Number.isNaN(Date.parse(value))) return value;
  throw new DecodeError(
    `parsing time ${JSON.stringify(value)} as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(value)}`,
  );
}

function mismatch(value: Json, { path, go }: FieldLocation, wanted: string): DecodeError {
  const found = typeof value === 'number' && !Number.isInteger(value) ? `number ${value}` : wireName(value);
  const field = `${go}.${path.replaceAll(/\[\d+\]/g, '')}`;
  return new DecodeError(`json: cannot unmarshal ${found} into Go struct field ${field} of type ${wanted}`);
}

function wireName(value: Json): string {
  if (isList(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

function typeName(type: Type): string {
  return type.is === 'object' ? type.go : type.is;
}
