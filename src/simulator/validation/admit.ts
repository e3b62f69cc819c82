import { type Json, isObject, type JsonObject, isList, listAt, sameJson } from '../kinds/json.js';
import { type KubeObject, asKubeObject } from '../objects/kube-object.js';
import type { Writer } from '../objects/managed-fields.js';
import type { Resource } from '../objects/resources.js';
import { invalidFields, type FieldCause } from '../objects/status-error.js';
import { type Arrival, reportUnknown } from '../objects/read-object.js';
import { invalid, required, unsupported } from './objects.js';
import { type CelEvaluator, memberSchema, ruleProblems } from './cel-rules.js';

const METADATA = ['apiVersion', 'kind', 'metadata'];

/**
 * Returns the stored form of a custom resource: without unknown fields, and with the defaults of its schema. Throws 422
 * if the object violates the schema or a CEL rule; the rules are checked only if the schema is met. Unknown fields are
 * reported by `reportUnknown`.
 */
export function admitCustom(
  resource: Resource,
  object: KubeObject,
  options: {
    readonly writer: Pick<Writer, 'isStrict' | 'warnings'>;
    readonly arrival: Arrival;
    /** Evaluates CEL rules; null: the rules are not checked. */
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
  /** Members that are kept even if they are not in the schema. */
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
  const isOpen =
    schema['x-kubernetes-preserve-unknown-fields'] === true || schema['additionalProperties'] === true;
  const result: Record<string, Json | undefined> = {};
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const memberPath = path === '' ? name : `${path}.${name}`;
    const known = memberSchema(schema, name);
    if (kept.includes(name)) result[name] = member;
    else if (known !== null) result[name] = prunedValue(member, known, memberPath, unknown);
    else if (isOpen) result[name] = member;
    else unknown.push(memberPath);
  }
  return result;
}

/** Sets the defaults of fields that are absent, or that are null and not nullable. */
export function withSchemaDefaults(value: Json, schema: JsonObject): Json {
  if (isList(value)) {
    const { items } = schema;
    return isObject(items) ? value.map((item) => withSchemaDefaults(item, items)) : value;
  }
  if (!isObject(value)) return value;
  const { properties } = schema;
  const result: Record<string, Json | undefined> = { ...value };
  for (const [name, member] of Object.entries(isObject(properties) ? properties : {})) {
    if (!isObject(member) || member['default'] === undefined) continue;
    const isNull = result[name] === null && member['nullable'] !== true;
    if (result[name] === undefined || isNull) result[name] = member['default'];
  }
  for (const [name, member] of Object.entries(result)) {
    const own = memberSchema(schema, name);
    if (own !== null && member !== undefined) result[name] = withSchemaDefaults(member, own);
  }
  return result;
}

/** Returns the violations of a schema, with the messages of the real server. */
export function fieldProblems(value: Json, schema: JsonObject, path: string): readonly FieldCause[] {
  if (value === null && schema['nullable'] === true) return [];
  const type = typeProblem(value, schema, path);
  if (type !== null) return [type];
  return [
    ...enumProblems(value, schema, path),
    ...limitProblems(value, schema, path),
    ...memberProblems(value, schema, path),
    ...junctorProblems(value, schema, path),
  ];
}

function wrong(path: string, value: Json, message: string): FieldCause {
  const shown = typeof value === 'object' ? JSON.stringify(value) : value;
  return invalid(path || '<nil>', shown, `${path} in body ${message}`);
}

function typeProblem(value: Json, schema: JsonObject, path: string): FieldCause | null {
  const found = typeOf(value);
  const mistyped = (wanted: string): FieldCause =>
    wrong(path, found, `must be of type ${wanted}: ${JSON.stringify(found)}`);
  if (schema['x-kubernetes-int-or-string'] === true)
    return found === 'integer' || found === 'string' ? null : mistyped('integer,string');
  const { type } = schema;
  if (typeof type !== 'string') return null;
  return found === type || (type === 'number' && found === 'integer') ? null : mistyped(type);
}

function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (isList(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function enumProblems(value: Json, schema: JsonObject, path: string): readonly FieldCause[] {
  const allowed = schema['enum'];
  if (!isList(allowed) || allowed.some((one) => sameJson(one, value))) return [];
  return [unsupported(path, value, allowed)];
}

function limitProblems(value: Json, schema: JsonObject, path: string): readonly FieldCause[] {
  const problems: FieldCause[] = [];
  const limit = (
    word: string,
    isBroken: (bound: number) => boolean,
    say: (bound: number) => string,
  ): void => {
    const bound = schema[word];
    if (typeof bound === 'number' && isBroken(bound)) problems.push(wrong(path, value, say(bound)));
  };
  if (typeof value === 'number') {
    const isAbove = schema['exclusiveMinimum'] === true;
    const isBelow = schema['exclusiveMaximum'] === true;
    const orEqual = (exclusive: boolean): string => (exclusive ? '' : ' or equal to');
    limit(
      'minimum',
      (bound) => value < bound || (isAbove && value === bound),
      (bound) => `should be greater than${orEqual(isAbove)} ${bound}`,
    );
    limit(
      'maximum',
      (bound) => value > bound || (isBelow && value === bound),
      (bound) => `should be less than${orEqual(isBelow)} ${bound}`,
    );
  }
  const size = sizeOf(value);
  if (size !== null) {
    const { suffix, verb, unit, count } = size;
    limit(
      `min${suffix}`,
      (bound) => count < bound,
      (bound) => `should ${verb} at least ${bound} ${unit}`,
    );
    limit(
      `max${suffix}`,
      (bound) => count > bound,
      (bound) => `should ${verb} at most ${bound} ${unit}`,
    );
  }
  if (typeof value === 'string') {
    const { pattern, format } = schema;
    if (typeof pattern === 'string' && !new RegExp(pattern, 'u').test(value))
      problems.push(wrong(path, value, `should match '${pattern}'`));
    if (format === 'date-time' && Number.isNaN(Date.parse(value)))
      problems.push(wrong(path, value, `must be of type date-time: ${JSON.stringify(value)}`));
  }
  return problems;
}

/** Returns what a schema limits with `minLength`, `maxItems` and their like; null: the value has no size. */
function sizeOf(
  value: Json,
): { readonly suffix: string; readonly verb: string; readonly unit: string; readonly count: number } | null {
  if (typeof value === 'string')
    return { suffix: 'Length', verb: 'be', unit: 'chars long', count: Array.from(value).length };
  if (isList(value)) return { suffix: 'Items', verb: 'have', unit: 'items', count: value.length };
  if (!isObject(value)) return null;
  return { suffix: 'Properties', verb: 'have', unit: 'properties', count: Object.keys(value).length };
}

function memberProblems(value: Json, schema: JsonObject, path: string): readonly FieldCause[] {
  if (isList(value)) {
    const { items } = schema;
    return isObject(items) ? value.flatMap((item, i) => fieldProblems(item, items, `${path}[${i}]`)) : [];
  }
  if (!isObject(value)) return [];
  const pathOf = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const missing = listAt(schema, 'required')
    .filter((name) => typeof name === 'string')
    .filter((name) => value[name] === undefined);
  const found = Object.entries(value).flatMap(([name, member]) => {
    const known = memberSchema(schema, name);
    return known !== null && member !== undefined ? fieldProblems(member, known, pathOf(name)) : [];
  });
  return [...missing.map((name) => required(pathOf(name))), ...found];
}

function junctorProblems(value: Json, schema: JsonObject, path: string): readonly FieldCause[] {
  const holding = (word: string): readonly boolean[] | null => {
    const branches = schema[word];
    if (!isList(branches)) return null;
    return branches.map((branch) => isObject(branch) && fieldProblems(value, branch, path).length === 0);
  };
  const problems: FieldCause[] = [];
  if (holding('allOf')?.includes(false))
    problems.push(wrong(path, value, 'must validate all the schemas (allOf)'));
  if (holding('anyOf')?.includes(true) === false)
    problems.push(wrong(path, value, 'must validate at least one schema (anyOf)'));
  const one = holding('oneOf')?.filter(Boolean).length ?? 1;
  const count = one === 0 ? 'none' : String(one);
  const oneOf = `must validate one and only one schema (oneOf). Found ${count} valid alternatives`;
  if (one !== 1) problems.push(wrong(path, value, oneOf));
  const { not } = schema;
  if (isObject(not) && fieldProblems(value, not, path).length === 0)
    problems.push(wrong(path, value, 'must not validate the schema (not)'));
  return problems;
}
