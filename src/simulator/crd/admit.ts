import { type Json, isObject, type JsonObject, isList } from '../json/json.js';
import { type KubeObject, asKubeObject } from '../objects/kube-object.js';
import type { Writer } from '../objects/managed-fields.js';
import type { Resource } from '../objects/resources.js';
import { invalidFields } from '../objects/status-error.js';
import { type Arrival, reportUnknown } from '../objects/strict-fields.js';
import { type CelEvaluator, ruleProblems } from './cel-rules.js';
import { fieldProblems } from './field-problems.js';

const METADATA = ['apiVersion', 'kind', 'metadata'];

/**
 * Returns the stored form of a custom resource: without unknown fields and with the defaults of the schema. Throws 422
 * if the object violates the schema or, after that, its CEL rules. `reportUnknown` reports unknown fields.
 */
export function admitCustom(
  resource: Resource,
  object: KubeObject,
  options: {
    readonly writer: Pick<Writer, 'isStrict' | 'warnings'>;
    readonly arrival: Arrival;
    /** Evaluates CEL rules; null: they are not checked. */
    readonly cel: CelEvaluator | null;
    readonly before: KubeObject | null;
  },
): KubeObject {
  const { schema, kind, group } = resource;
  if (schema === null) return object;
  const unknown: string[] = [];
  const pruned = prunedObject(object, schema, '', { unknown, kept: METADATA });
  reportUnknown(unknown, { ...options, resource, sent: object });
  const filled = withSchemaDefaults(pruned, schema);
  const complete = asKubeObject({ ...(isObject(filled) ? filled : pruned), metadata: object.metadata });
  const invalid = fieldProblems(complete, schema, '');
  const input = { value: complete, before: options.before ?? undefined, path: '' };
  const causes =
    invalid.length > 0 || options.cel === null ? invalid : ruleProblems(options.cel, schema, input);
  if (causes.length > 0) throw invalidFields({ kind, group, name: complete.metadata.name }, causes);
  return complete;
}

interface Pruning {
  readonly unknown: string[];
  /** Members that are kept even if the schema lacks them. */
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
    const memberPath = path === '' ? name : `${path}.${name}`;
    const known = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (kept.includes(name)) result[name] = member;
    else if (isObject(known)) result[name] = prunedValue(member, known, memberPath, unknown);
    else if (isOpen) result[name] = member;
    else unknown.push(memberPath);
  }
  return result;
}

/** Sets the defaults of a schema for fields that are absent, or null but not nullable. */
export function withSchemaDefaults(value: Json, schema: JsonObject): Json {
  if (isList(value)) {
    const { items } = schema;
    return isObject(items) ? value.map((item) => withSchemaDefaults(item, items)) : value;
  }
  if (!isObject(value)) return value;
  const { properties, additionalProperties } = schema;
  const known = isObject(properties) ? properties : {};
  const result: Record<string, Json | undefined> = { ...value };
  for (const [name, member] of Object.entries(known)) {
    if (!isObject(member) || member['default'] === undefined) continue;
    const isNull = result[name] === null && member['nullable'] !== true;
    if (result[name] === undefined || isNull) result[name] = member['default'];
  }
  for (const [name, member] of Object.entries(result)) {
    const own = Object.hasOwn(known, name) ? known[name] : additionalProperties;
    if (isObject(own) && member !== undefined) result[name] = withSchemaDefaults(member, own);
  }
  return result;
}
