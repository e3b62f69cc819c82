import * as z from 'zod';
import type { Field } from './fields.js';

/** Mappings that the manual describes as one field. */
const WHOLE: ReadonlySet<string> = new Set(['selector', 'defaults', 'fallback', 'podDeletionCost']);
const METRIC_MEMBER = /\bmetrics\[\]\.(?:resource|containerResource|pods|object|external)\./;

/** The paths of all fields of a schema in the form of `Field.path`, each once. */
export function schemaPaths(schema: z.ZodType): readonly string[] {
  const paths = new Set<string>();
  visitFields(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }), '', (path) => paths.add(path));
  return Array.from(paths);
}

/** The JSON Schema, with the sentence of each field beside it. */
export function describedJsonSchema(schema: z.ZodType, fields: readonly Field[], title: string): object {
  const sentences = new Map(fields.map(({ path, text }) => [path, text]));
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  visitFields(json, '', (path, node) => {
    const sentence = sentences.get(path);
    if (sentence !== undefined) node.description = sentence;
  });
  return { title, ...json };
}

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** Calls `onField` with each field that is no mapping of fields itself. */
function visitFields(
  node: JsonSchema,
  path: string,
  onField: (path: string, node: JsonSchema) => void,
): void {
  const { properties, additionalProperties, items } = node;
  const last = path.slice(path.lastIndexOf('.') + 1);
  if (properties !== undefined && !WHOLE.has(last)) {
    for (const [key, child] of Object.entries(properties)) {
      if (typeof child === 'boolean') continue;
      const to = (path === '' ? key : `${path}.${key}`).replace(METRIC_MEMBER, 'metrics[].*.');
      visitFields(child, to, onField);
    }
  } else if (isNode(items) && items.properties !== undefined) {
    visitFields(items, `${path}[]`, onField);
  } else if (isNode(additionalProperties) && additionalProperties.properties !== undefined) {
    visitFields(additionalProperties, `${path}.NAME`, onField);
  } else onField(path, node);
}

function isNode(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
