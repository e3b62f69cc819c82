import { serviceSchema } from '../../config/service-schema.js';
import { isPlainObject } from '../../scaler/plain-json.js';
import { documentSchema } from '../../scaler/schema/document-schema.js';

/** A JSON Schema (draft 7) as plain JSON. */
export type JsonSchema = Readonly<Record<string, unknown>>;

const FORM = { target: 'draft-7', io: 'input' } as const;

/** Returns the schema for editors. It lacks rules across fields, which only `validate` checks. */
export function documentJsonSchema(): JsonSchema {
  return { ...documentSchema.toJSONSchema(FORM) };
}

export function serviceJsonSchema(): JsonSchema {
  const { properties, ...rest } = serviceSchema.toJSONSchema(FORM);
  return { ...rest, properties: { ...properties, defaults: withoutDefaults(properties?.['defaults']) } };
}

/**
 * Removes the defaults from the schema for `defaults` of the service config. There, an unset field has no fixed
 * default: the preset of the document determines its value.
 */
function withoutDefaults(node: unknown, isSchema = true): unknown {
  if (!isPlainObject(node)) return node;
  const members = Object.entries(node).filter(([word]) => !isSchema || word !== 'default');
  return Object.fromEntries(
    members.map(([word, member]) => [word, withoutDefaults(member, !isSchema || word !== 'properties')]),
  );
}
