import { typeOfSchema } from '../crd/schema-type.js';
import { type JsonObject, objectAt } from '../json.js';
import { DecodeError, type Decoding, decode } from '../kinds/decode.js';
import { knownType } from '../kinds/known.js';
import { objectMeta, scale } from '../kinds/meta.js';
import { type ObjectType, type Type, any } from '../kinds/type.js';
import type { Writer } from '../objects/managed-fields.js';
import { type Resource, apiVersionOf } from '../objects/resources.js';
import { type StatusError, badRequest, invalidPatch } from '../objects/status-error.js';
import { type Arrival, reportUnknown } from '../objects/strict-fields.js';

/** What an object is read for. */
export interface Reading {
  readonly arrival: Arrival;
  readonly writer: Pick<Writer, 'isStrict' | 'warnings'>;
}

/** The type by which objects of a resource are merged and owned, in the form in which they are stored. */
export function storedType(resource: Resource): Type {
  const { kind, schema } = resource;
  if (schema !== null) return typeOfSchema(schema);
  return knownType(resource.storedAs, kind) ?? any;
}

/** By type, built once: every write and every bookmark needs one. */
const EMPTY = new WeakMap<ObjectType, JsonObject>();

/** What an object looks like in which nothing is set yet; default: in the form in which it is stored. */
export function emptyObject(resource: Resource, apiVersion = resource.storedAs): JsonObject {
  const type = knownType(apiVersion, resource.kind);
  if (type === null) return { metadata: {} };
  const empty = EMPTY.get(type) ?? decode(type, {});
  EMPTY.set(type, empty);
  return empty;
}

/**
 * Returns what a client sent as the server reads it: with the right types, without unknown and empty fields, with
 * defaults. Throws 400, for a patch 422, where a value does not fit or, if the writer is strict, where a field is unknown.
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

/** Returns a Scale as the server reads it. Throws as `readObject` does. */
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
