import { type Json, isObject } from '../json.js';
import { type KubeObject, asKubeObject } from '../api/objects.js';
import type { Resource } from '../api/resources.js';
import { StatusError, badRequest, invalidFields } from '../api/status-error.js';
import { fieldProblems } from './field-problems.js';

/** How an object arrived, which decides how a refusal is put. */
export type Arrival = 'body' | 'patch';

const METADATA = ['apiVersion', 'kind', 'metadata'];

/**
 * A custom resource as it is stored: without the fields that its schema does not know. Throws 422 where the schema does
 * not allow it, and, if `isStrict` (`fieldValidation=Strict`, which kubectl asks for), where it has unknown fields: 400, by
 * a patch 422. Rules in CEL (`x-kubernetes-validations`) and defaults are not carried out.
 */
export function admitCustom(
  resource: Resource,
  object: KubeObject,
  options: { readonly isStrict: boolean; readonly arrival: Arrival },
): KubeObject {
  const { schema, kind, group, version } = resource;
  if (schema === null) return object;
  const unknown: string[] = [];
  const pruned = asKubeObject({
    ...prunedObject(object, schema, '', { unknown, kept: METADATA }),
    metadata: object.metadata,
  });
  if (options.isStrict && unknown.length > 0) {
    const sentences = unknown.map((field) => `unknown field ${JSON.stringify(field)}`).join(', ');
    const strict = `strict decoding error: ${sentences}`;
    throw options.arrival === 'body'
      ? badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${strict}`)
      : new StatusError(
          422,
          'Invalid',
          ` "" is invalid: patch: Invalid value: ${quoted(object)}: ${strict}`,
          {},
        );
  }
  const causes = fieldProblems(pruned, schema, '');
  if (causes.length > 0) throw invalidFields({ kind, group, name: pruned.metadata.name }, causes);
  return pruned;
}

function quoted(object: KubeObject): string {
  return JSON.stringify(JSON.stringify(object));
}

interface Pruning {
  /** Takes the paths of what was left out. */
  readonly unknown: string[];
  /** Members of this one object that stay whatever the schema says. */
  readonly kept?: readonly string[];
}

function prunedValue(value: Json, schema: Json | undefined, path: string, unknown: string[]): Json {
  if (!isObject(schema)) return value;
  if (Array.isArray(value)) {
    return value.map((item: Json, i) => prunedValue(item, schema['items'], `${path}[${i}]`, unknown));
  }
  return isObject(value) ? prunedObject(value, schema, path, { unknown }) : value;
}

function prunedObject(
  value: Readonly<Record<string, Json | undefined>>,
  schema: Readonly<Record<string, Json | undefined>>,
  path: string,
  { unknown, kept = [] }: Pruning,
): Readonly<Record<string, Json | undefined>> {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const { additionalProperties } = schema;
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true || additionalProperties === true;
  const result: Record<string, Json | undefined> = {};
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const place = path === '' ? name : `${path}.${name}`;
    const known = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (kept.includes(name)) result[name] = member;
    else if (isObject(known)) result[name] = prunedValue(member, known, place, unknown);
    else if (isOpen) result[name] = member;
    else unknown.push(place);
  }
  return result;
}
