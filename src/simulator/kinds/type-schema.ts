import type { JsonObject } from '../json/json.js';
import type { ObjectType, Type } from './type.js';

const SCHEMAS = new Map<Type, JsonObject>();

/** Returns the OpenAPI schema of a type, without descriptions. */
export function typeSchema(type: Type): JsonObject {
  const known = SCHEMAS.get(type) ?? makeSchema(type);
  SCHEMAS.set(type, known);
  return known;
}

function makeSchema(type: Type): JsonObject {
  switch (type.is) {
    case 'object':
      return objectSchema(type);
    case 'map':
      return { type: 'object', additionalProperties: typeSchema(type.of) };
    case 'list':
      return { type: 'array', items: typeSchema(type.of) };
    case 'int32':
    case 'int64':
      return { type: 'integer', format: type.is };
    case 'bool':
      return { type: 'boolean' };
    case 'time':
    case 'microTime':
      return { type: 'string', format: 'date-time' };
    case 'intOrString':
      return { type: 'string', format: 'int-or-string' };
    case 'string':
    case 'quantity':
      return { type: 'string' };
    case 'any':
      return { type: 'object' };
    default:
      return type satisfies never;
  }
}

/** Adds the keys by which a strategic merge patch merges lists. */
function objectSchema({ fields, isAtomic }: ObjectType): JsonObject {
  const properties = Object.entries(fields).map(([name, { type, fallback }]) => {
    const [key] = type.is === 'list' ? (type.keys ?? []) : [];
    const merge =
      key === undefined
        ? {}
        : { 'x-kubernetes-patch-merge-key': key, 'x-kubernetes-patch-strategy': 'merge' };
    return [name, { ...typeSchema(type), ...merge, default: fallback }] as const;
  });
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    'x-kubernetes-map-type': isAtomic === true ? 'atomic' : undefined,
  };
}
