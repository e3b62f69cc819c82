import { type Json, type JsonObject, isList, isObject } from '../json/json.js';

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
