import { parse } from 'yaml';
import { type JsonObject, isObject, stringAt } from '../../kinds/json.js';
import type { Resource } from '../../objects/resources.js';
import { badRequest } from '../../objects/status-error.js';

/** Parses a body in JSON or YAML. An empty body becomes an empty object. Throws 400 if the body is not an object. */
export function parseBody(text: string, contentType = ''): JsonObject {
  if (text.trim() === '') return {};
  let value: unknown;
  try {
    value = contentType.includes('yaml') ? parse(text) : JSON.parse(text);
  } catch (error) {
    throw badRequest(`couldn't get version/kind; json parse error: ${String(error)}`);
  }
  if (!isObject(value)) throw badRequest('the object provided is unrecognized: it is no object');
  return value;
}

/** Parses the body of a patch: an object or, for a JSON patch, a list. Throws 400. */
export function parsePatch(text: string): JsonObject | readonly JsonObject[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw badRequest(`error decoding patch: ${String(error)}`);
  }
  if (isObject(value)) return value;
  if (Array.isArray(value) && value.every(isObject)) return value;
  throw badRequest('error decoding patch: neither an object nor a list of operations');
}

/** Throws 400 if the body has another kind or apiVersion than the resource. The body may omit both fields. */
export function checkKind(resource: Resource, apiVersion: string, body: JsonObject): void {
  const kind = stringAt(body, 'kind') ?? resource.kind;
  const version = stringAt(body, 'apiVersion') ?? apiVersion;
  if (kind === resource.kind && version === apiVersion) return;
  throw badRequest(
    `the API version or kind in the data (${version}, ${kind}) does not match the expected (${apiVersion}, ${resource.kind})`,
  );
}
