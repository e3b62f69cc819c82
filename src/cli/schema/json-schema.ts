import { serviceSchema } from '../../config/service-schema.js';
import { isPlainObject } from '../../scaler/plain-json.js';
import { documentSchema } from '../../scaler/schema/document-schema.js';

/** Draft 7, as plain JSON. */
export type JsonSchema = Readonly<Record<string, unknown>>;

const FORM = { target: 'draft-7', io: 'input' } as const;

/** Returns the schema for editors. It does not contain rules across fields, which `validate` checks. */
export function documentJsonSchema(): JsonSchema {
  return { ...documentSchema.toJSONSchema(FORM) };
}

export function serviceJsonSchema(): JsonSchema {
  const { properties, ...rest } = serviceSchema.toJSONSchema(FORM);
  return { ...rest, properties: { ...properties, defaults: withoutDefaults(properties?.['defaults']) } };
}

/**
 * In `defaults` of the service config, an unset field has no fixed default: the preset of the document determines it.
 */
function withoutDefaults(node: unknown, isSchema = true): unknown {
  if (!isPlainObject(node)) return node;
  const members = Object.entries(node).filter(([word]) => !isSchema || word !== 'default');
  return Object.fromEntries(
    members.map(([word, member]) => [word, withoutDefaults(member, !isSchema || word !== 'properties')]),
  );
}
