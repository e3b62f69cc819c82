import { type JsonObject, isObject, stringAt, valueAt } from '../json.js';
import type { KubeObject } from './objects.js';
import type { Resource } from './resources.js';
import { type StatusError, badRequest, invalidField } from './status-error.js';

const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** Refuses what the real server refuses in the few fields that the simulator lives on: 400 and 422. */
export function validate(resource: Resource, object: KubeObject): void {
  const { name } = object.metadata;
  const identity = { kind: resource.kind, group: resource.group, name };
  if (!NAME.test(name)) {
    const rule =
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'";
    throw invalidField(identity, { field: 'metadata.name', value: JSON.stringify(name), message: rule });
  }
  if (resource.subresources.includes('scale')) checkReplicas(identity, object);
}

/** `spec.replicas` must be an integer of 32 bits, at least 0; absent is allowed. */
export function checkReplicas(
  identity: { readonly kind: string; readonly group: string; readonly name: string },
  object: JsonObject,
): void {
  const replicas = valueAt(object, 'spec', 'replicas');
  if (replicas === undefined || replicas === null) return;
  if (typeof replicas !== 'number' || !Number.isInteger(replicas) || Math.abs(replicas) > 0x7fff_ffff) {
    throw decodeError(identity.kind, replicas);
  }
  if (replicas >= 0) return;
  const message = 'must be greater than or equal to 0';
  throw invalidField(identity, { field: 'spec.replicas', value: String(replicas), message });
}

function decodeError(kind: string, replicas: unknown): StatusError {
  const found = typeof replicas === 'number' ? `number ${String(replicas)}` : typeof replicas;
  return badRequest(
    `${kind} in version "v1" cannot be handled as a ${kind}: json: cannot unmarshal ${found} into Go struct field spec.replicas of type int32`,
  );
}

/** A body that is an object; 400 otherwise. An empty body is an empty object. */
export function parseBody(text: string): JsonObject {
  if (text.trim() === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw badRequest(`the object provided is unrecognized (must be of type JSON): ${String(error)}`);
  }
  if (!isJsonObject(value)) throw badRequest('the object provided is unrecognized: it is no object');
  return value;
}

/** A body that may also be a list, as a JSON patch is. */
export function parsePatch(text: string): JsonObject | readonly JsonObject[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw badRequest(`error decoding patch: ${String(error)}`);
  }
  if (isJsonObject(value)) return value;
  if (Array.isArray(value) && value.every(isJsonObject)) return value;
  throw badRequest('error decoding patch: neither an object nor a list of operations');
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && isObject(value as JsonObject);
}

/** The kind in a body must be that of the resource; absent is taken as meant. */
export function checkKind(resource: Resource, apiVersion: string, body: JsonObject): void {
  const kind = stringAt(body, 'kind') ?? resource.kind;
  const version = stringAt(body, 'apiVersion') ?? apiVersion;
  if (kind === resource.kind && version === apiVersion) return;
  throw badRequest(
    `the API version or kind in the data (${version}, ${kind}) does not match the expected (${apiVersion}, ${resource.kind})`,
  );
}
