import { typeOfSchema } from '../../crd/schema-type.js';
import { type JsonObject, objectAt } from '../../json/json.js';
import { DecodeError, type Decoding, decode } from '../../kinds/decode.js';
import { knownType } from '../../kinds/known.js';
import { objectMeta, scale } from '../../kinds/meta.js';
import { type ObjectType, type Type, any } from '../../kinds/type.js';
import type { Writer } from '../../objects/managed-fields.js';
import { type Resource, apiVersionOf } from '../../objects/resources.js';
import { type StatusError, badRequest, invalidPatch } from '../../objects/status-error.js';
import { type Arrival, reportUnknown } from '../../objects/strict-fields.js';

export interface Reading {
  readonly arrival: Arrival;
  readonly writer: Pick<Writer, 'isStrict' | 'warnings'>;
}

/** Returns the type that determines merging and ownership, in the stored form. */
export function storedType(resource: Resource): Type {
  const { kind, schema } = resource;
  if (schema !== null) return typeOfSchema(schema);
  return knownType(resource.storedAs, kind) ?? any;
}

/** Cached per type, because every write and every bookmark needs an empty object. */
const EMPTY = new WeakMap<ObjectType, JsonObject>();

/** Returns an object without values; default: in the stored form. */
export function emptyObject(resource: Resource, apiVersion = resource.storedAs): JsonObject {
  const type = knownType(apiVersion, resource.kind);
  if (type === null) return { metadata: {} };
  const empty = EMPTY.get(type) ?? decode(type, {});
  EMPTY.set(type, empty);
  return empty;
}

/**
 * Decodes an object like the server: checks types, drops unknown and empty fields, sets defaults. Throws 400 (422 for a
 * patch) for a wrong type and, if the writer is strict, for an unknown field.
 */
export function readObject(resource: Resource, sent: JsonObject, reading: Reading): JsonObject {
  const type = knownType(apiVersionOf(resource), resource.kind);
  if (type !== null) return readTyped(type, sent, { ...reading, resource });
  const meta: ObjectType = {
    is: 'object',
    go: resource.kind,
    fields: { metadata: { type: objectMeta, mode: 'value' } },
  };
  const { metadata } = readTyped(meta, { metadata: objectAt(sent, 'metadata') }, { ...reading, resource });
  return { ...sent, metadata };
}

/** Decodes a Scale. Throws the same errors as `readObject`. */
export function readScale(sent: JsonObject, reading: Reading): JsonObject {
  const resource = { kind: 'Scale', version: 'v1' };
  return readTyped(scale, sent, { ...reading, resource });
}

function readTyped(
  type: ObjectType,
  sent: JsonObject,
  { arrival, writer, resource }: Reading & { readonly resource: Pick<Resource, 'kind' | 'version'> },
): JsonObject {
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
