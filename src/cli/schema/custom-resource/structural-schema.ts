import { isPlainObject } from '../../../scaler/plain-json.js';
import type { JsonSchema } from '../json-schema.js';

/** What stands beside what the schema says anyway, by the path of a field (`spec.schedules[]`). */
export type SchemaAdditions = Readonly<Record<string, JsonSchema>>;

interface Place {
  readonly path: string;
  readonly additions: SchemaAdditions;
}

/** Words that mean the same to a CustomResourceDefinition as to JSON Schema. */
const KEPT: readonly string[] = [
  ...['type', 'enum', 'required', 'pattern'],
  ...['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'],
];
/** What is said in another way, or left out: the API server leaves unknown fields out by itself. */
const TRANSLATED = ['description', 'default', 'const', 'properties', 'items', 'additionalProperties'];
const DROPPED = ['$schema', 'title', 'propertyNames'];

const WORDS: ReadonlySet<string> = new Set([...KEPT, ...TRANSLATED, ...DROPPED]);

/**
 * A JSON Schema (draft 7, as `documentJsonSchema` has it) in the form that a CustomResourceDefinition takes: structural,
 * without defaults; a default is told in the description. Throws `Error` for a word that it does not know, so that
 * nothing is lost unseen. *Source*: the rules of structural schemas, apiextensions.k8s.io/v1.
 */
export function structuralSchema(schema: unknown, place: Place): JsonSchema {
  const { path, additions } = place;
  if (!isPlainObject(schema)) throw new Error(`making a structural schema of ${path}: it has none`);
  const unknown = Object.keys(schema).find((word) => !WORDS.has(word));
  if (unknown !== undefined)
    throw new Error(`making a structural schema of ${path}: ${unknown} is not known`);
  const { const: only, properties, items, additionalProperties } = schema;
  const hasTypes = Array.isArray(schema['type']);
  const kept = KEPT.filter((word) => schema[word] !== undefined && !(word === 'type' && hasTypes));
  return {
    ...describedBy(schema),
    ...Object.fromEntries(kept.map((word) => [word, schema[word]])),
    ...severalTypes(schema),
    ...(only === undefined ? {} : { enum: [only] }),
    ...(isPlainObject(properties) ? { properties: structuralMembers(properties, place) } : {}),
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
  { path, additions }: Place,
): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [
      name,
      structuralSchema(field, { path: path === '' ? name : `${path}.${name}`, additions }),
    ]),
  );
}

/** `kubectl explain` shows descriptions, not defaults that the API server does not fill in. */
function describedBy({ description, default: value }: JsonSchema): JsonSchema {
  if (typeof description !== 'string') return {};
  return { description: value === undefined ? description : `${description} Default: ${shown(value)}.` };
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * A node of several types has none in a structural schema. An int-or-string would refuse 0.1, so it is left open, and
 * what it can never be is refused by other words: objects and lists with something in them, and booleans.
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
