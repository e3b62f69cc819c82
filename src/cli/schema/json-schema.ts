import { serviceSchema } from '../../config/service-schema.js';
import { isPlainObject } from '../../scaler/plain-json.js';
import { documentSchema } from '../../scaler/schema/document-schema.js';

/** A JSON Schema, draft 7, as plain JSON. */
export type JsonSchema = Readonly<Record<string, unknown>>;

const FORM = { target: 'draft-7', io: 'input' } as const;

/** Returns the schema of a scaler document for editors. It has no rules over several fields: `validate` checks those. */
export function documentJsonSchema(): JsonSchema {
  return { ...documentSchema.toJSONSchema(FORM) };
}

/** Returns the schema of the service config for editors. */
export function serviceJsonSchema(): JsonSchema {
  const { properties, ...rest } = serviceSchema.toJSONSchema(FORM);
  return { ...rest, properties: { ...properties, defaults: withoutDefaults(properties?.['defaults']) } };
}

/** In the service config's `defaults` an unset field has no value: the default of the document's preset applies. */
function withoutDefaults(node: unknown, isSchema = true): unknown {
  if (!isPlainObject(node)) return node;
  const members = Object.entries(node).filter(([word]) => !isSchema || word !== 'default');
  return Object.fromEntries(
    members.map(([word, member]) => [word, withoutDefaults(member, !isSchema || word !== 'properties')]),
  );
}
