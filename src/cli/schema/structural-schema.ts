import { isPlainObject } from '../../scaler/plain-json.js';
import type { JsonSchema } from './json-schema.js';

/** Maps the path of a field (`spec.schedules[]`) to keywords that are added to the schema of the field. */
export type SchemaAdditions = Readonly<Record<string, JsonSchema>>;

interface SchemaContext {
  readonly path: string;
  readonly additions: SchemaAdditions;
}

/** Keywords that mean the same in a CustomResourceDefinition and in JSON Schema. */
const KEPT: readonly string[] = [
  ...['type', 'enum', 'required', 'pattern'],
  ...['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'],
];
const TRANSLATED = ['description', 'default', 'const', 'properties', 'items', 'additionalProperties'];
const DROPPED = ['$schema', 'title', 'propertyNames'];

const WORDS: ReadonlySet<string> = new Set([...KEPT, ...TRANSLATED, ...DROPPED]);

/**
 * Converts a JSON Schema (draft 7) to a structural schema of a CustomResourceDefinition. Defaults become part of the
 * descriptions, because the API server must not write them into objects. Throws `Error` for an unknown keyword, which
 * would otherwise be ignored. Source: structural schemas, apiextensions.k8s.io/v1.
 */
export function structuralSchema(schema: unknown, context: SchemaContext): JsonSchema {
  const { path, additions } = context;
  if (!isPlainObject(schema))
    throw new Error(`building the structural schema of ${path}: it is not an object`);
  const unknown = Object.keys(schema).find((word) => !WORDS.has(word));
  if (unknown !== undefined)
    throw new Error(`building the structural schema of ${path}: unknown keyword ${unknown}`);
  const { const: only, properties, items, additionalProperties } = schema;
  const hasTypes = Array.isArray(schema['type']);
  const kept = KEPT.filter((word) => schema[word] !== undefined && !(word === 'type' && hasTypes));
  return {
    ...describedBy(schema),
    ...Object.fromEntries(kept.map((word) => [word, schema[word]])),
    ...severalTypes(schema),
    ...(only === undefined ? {} : { enum: [only] }),
    ...(isPlainObject(properties) ? { properties: structuralMembers(properties, context) } : {}),
    ...(items === undefined ? {} : { items: structuralSchema(items, { path: `${path}[]`, additions }) }),
    ...(isPlainObject(additionalProperties)
      ? {
          additionalProperties: structuralSchema(additionalProperties, { path: `${path}.NAME`, additions }),
        }
      : {}),
    ...additions[path],
  };
}

function structuralMembers(
  properties: JsonSchema,
  { path, additions }: SchemaContext,
): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [
      name,
      structuralSchema(field, { path: path === '' ? name : `${path}.${name}`, additions }),
    ]),
  );
}

/** Appends the default to the description, because `kubectl explain` shows only defaults that the API server sets. */
function describedBy({ description, default: value }: JsonSchema): JsonSchema {
  if (typeof description !== 'string') return {};
  return { description: value === undefined ? description : `${description} Default: ${shown(value)}.` };
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * Converts a field with several types. It has no `type`, because a structural schema has only one type, and
 * int-or-string would reject 0.1. Instead, other keywords reject objects and lists that are not empty, and booleans.
 */
function severalTypes({ type: types, enum: values }: JsonSchema): JsonSchema {
  if (!Array.isArray(types)) return {};
  const open = { 'x-kubernetes-preserve-unknown-fields': true };
  if (values !== undefined) return open;
  return {
    ...open,
    ...(types.includes('object') ? {} : { maxProperties: 0 }),
    ...(types.includes('array') ? {} : { maxItems: 0 }),
    ...(types.includes('boolean') ? {} : { not: { enum: [true, false] } }),
  };
}
