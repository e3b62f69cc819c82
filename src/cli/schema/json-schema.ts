import { serviceSchema } from '../../config/service-schema.js';
import { isPlainObject } from '../../scaler/plain.js';
import { documentSchema } from '../../scaler/schema.js';
import { DOCUMENT_FIELDS } from './document-fields.js';
import { type FieldText, expandFields } from './field-text.js';
import { SERVICE_FIELDS } from './service-fields.js';

/** A JSON Schema, draft 7, as plain JSON. */
export type JsonSchema = Readonly<Record<string, unknown>>;

const FORM = { target: 'draft-7', io: 'input' } as const;

/** What an editor needs to know of a scaler document. Rules over several fields are not in it: those are for `validate`. */
export function documentJsonSchema(): JsonSchema {
  return {
    title: 'promscaler scaler document',
    ...described(documentSchema.toJSONSchema(FORM), DOCUMENT_FIELDS),
  };
}

/** The same of the service config. */
export function serviceJsonSchema(): JsonSchema {
  return {
    title: 'promscaler service config',
    ...described(serviceSchema.toJSONSchema(FORM), SERVICE_FIELDS),
  };
}

function described(schema: unknown, table: Readonly<Record<string, FieldText>>): JsonSchema {
  const result = describe(schema, '', expandFields(table));
  if (!isPlainObject(result)) throw new Error('a JSON Schema of an object was expected');
  return result;
}

/** The schema with the texts of its fields, all the way down. */
function describe(schema: unknown, path: string, texts: ReadonlyMap<string, FieldText>): unknown {
  if (!isPlainObject(schema)) return schema;
  const { properties, items, additionalProperties, ...rest } = schema;
  const inside: Record<string, unknown> = {};
  if (isPlainObject(properties)) {
    inside['properties'] = Object.fromEntries(
      Object.entries(properties).map(([name, field]) => [
        name,
        describe(field, path === '' ? name : `${path}.${name}`, texts),
      ]),
    );
  }
  if (items !== undefined) inside['items'] = describe(items, `${path}[]`, texts);
  if (additionalProperties !== undefined) {
    inside['additionalProperties'] = describe(additionalProperties, `${path}.NAME`, texts);
  }
  return { ...rest, ...texts.get(path), ...inside };
}
