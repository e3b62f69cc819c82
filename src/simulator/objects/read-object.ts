import { type JsonObject, objectAt, type Json, isList, isObject, stringAt } from '../kinds/json.js';
import { DecodeError, type Decoding, decode } from '../kinds/decode.js';
import { knownType } from '../kinds/known.js';
import { objectMeta, scale } from '../kinds/meta.js';
import { type ObjectType, type Type, any, list, map, object, pointer, string } from '../kinds/type.js';
import { cached } from '../../units/maps.js';
import type { Writer } from './managed-fields.js';
import { type Resource, apiVersionOf } from './resources.js';
import { type StatusError, badRequest, invalidPatch } from './status-error.js';

interface Reading {
  readonly arrival: Arrival;
  readonly writer: Pick<Writer, 'isStrict' | 'warnings'>;
}

interface Source extends Reading {
  readonly resource: Pick<Resource, 'kind' | 'version'>;
}

/** Returns the type of the stored objects, which determines how their fields are merged and owned. */
export function storedType(resource: Resource): Type {
  const { kind, schema } = resource;
  if (schema !== null) return typeOfSchema(schema);
  return knownType(resource.storedAs, kind) ?? any;
}

/** Returns the empty object of a type, which each write and each bookmark needs. */
const emptyOf = cached((type: ObjectType) => decode(type, {}));

/**
 * Returns an object with only the fields that are always written. `apiVersion`: its version; default: the stored
 * version.
 */
export function emptyObject(resource: Resource, apiVersion = resource.storedAs): JsonObject {
  const type = knownType(apiVersion, resource.kind);
  return type === null ? { metadata: {} } : emptyOf(type);
}

/**
 * Decodes an object as the server does: checks types, drops unknown and empty fields, and sets defaults. Throws 400
 * (422 for a patch) if a type is invalid or, for a strict writer, if a field is unknown.
 */
export function readObject(resource: Resource, sent: JsonObject, reading: Reading): JsonObject {
  const type = knownType(apiVersionOf(resource), resource.kind);
  if (type !== null) return readTyped(type, sent, { ...reading, resource });
  const meta = object(resource.kind, { metadata: objectMeta });
  const { metadata } = readTyped(meta, { metadata: objectAt(sent, 'metadata') }, { ...reading, resource });
  return { ...sent, metadata };
}

/** Decodes a Scale. Throws the same errors as `readObject`. */
export function readScale(sent: JsonObject, reading: Reading): JsonObject {
  const resource = { kind: 'Scale', version: 'v1' };
  return readTyped(scale, sent, { ...reading, resource });
}

function readTyped(type: ObjectType, sent: JsonObject, { arrival, writer, resource }: Source): JsonObject {
  const unknown: string[] = [];
  const decoding: Decoding = { unknown, isCompleted: true };
  try {
    const read = decode(type, sent, decoding);
    reportUnknown(unknown, { writer, resource, sent, arrival });
    return read;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw unreadable(resource, sent, arrival, error.message);
  }
}

function unreadable(
  { kind, version }: Pick<Resource, 'kind' | 'version'>,
  sent: JsonObject,
  arrival: Arrival,
  message: string,
): StatusError {
  return arrival === 'patch'
    ? invalidPatch(sent, message)
    : badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${message}`);
}

/** Returns the type for merging and ownership, according to the list types and map types of a schema. */
const typeOfSchema = cached((schema: JsonObject): Type => {
  const read = readSchema(schema);
  if (read.is !== 'object') return read;
  return object('', { ...read.fields, apiVersion: string, kind: string, metadata: objectMeta });
});

function readSchema(schema: Json | undefined): Type {
  if (!isObject(schema)) return any;
  const { properties, additionalProperties, items } = schema;
  if (isObject(properties)) {
    const fields = Object.entries(properties).map(
      ([name, member]) => [name, pointer(readSchema(member))] as const,
    );
    const type = object('', Object.fromEntries(fields));
    return schema['x-kubernetes-map-type'] === 'atomic' ? { ...type, isAtomic: true } : type;
  }
  if (isObject(additionalProperties)) return map(readSchema(additionalProperties));
  if (items === undefined) return any;
  const kind = stringAt(schema, 'x-kubernetes-list-type');
  if (kind === 'set') return list(readSchema(items), []);
  const keys = schema['x-kubernetes-list-map-keys'];
  if (kind !== 'map' || !isList(keys)) return list(readSchema(items));
  return list(
    readSchema(items),
    keys.filter((key) => typeof key === 'string'),
  );
}

/** How an object was sent: as a whole, or as a patch. Status code and message of an error depend on it. */
export type Arrival = 'body' | 'patch';

/**
 * Reports unknown fields according to `fieldValidation`: with Strict, throws 400 (422 for a patch); with Warn, adds
 * warnings.
 */
export function reportUnknown(
  fields: readonly string[],
  { writer, resource, sent, arrival }: Source & { readonly sent: JsonObject },
): void {
  if (fields.length === 0) return;
  const sentences = fields.map((field) => `unknown field ${JSON.stringify(field)}`);
  writer.warnings?.push(...sentences);
  if (writer.isStrict !== true) return;
  throw unreadable(resource, sent, arrival, `strict decoding error: ${sentences.join(', ')}`);
}
