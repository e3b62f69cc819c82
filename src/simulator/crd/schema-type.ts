import { type Json, type JsonObject, isList, isObject, stringAt } from '../json/json.js';
import { objectMeta } from '../kinds/meta.js';
import { type Type, any, list, map, object, pointer, string } from '../kinds/type.js';

const TYPES = new WeakMap<JsonObject, Type>();

/** Returns the type for merging and ownership, from the list types and map types of a schema. */
export function typeOfSchema(schema: JsonObject): Type {
  const known = TYPES.get(schema);
  if (known !== undefined) return known;
  const read = readSchema(schema);
  const root =
    read.is === 'object'
      ? object('', { ...read.fields, apiVersion: string, kind: string, metadata: objectMeta })
      : read;
  TYPES.set(schema, root);
  return root;
}

function readSchema(schema: Json | undefined): Type {
  if (!isObject(schema)) return any;
  const { properties, additionalProperties, items } = schema;
  if (isObject(properties)) {
    const fields = Object.entries(properties).map(
      ([name, member]) => [name, pointer(readSchema(member))] as const,
    );
    const type = object('', Object.fromEntries(fields));
    return schema['x-kubernetes-map-type'] === 'atomic' ? { ...type, isAtomic: true } : type;
  }
  if (isObject(additionalProperties)) return map(readSchema(additionalProperties));
  if (items === undefined) return any;
  const kind = stringAt(schema, 'x-kubernetes-list-type');
  if (kind === 'set') return list(readSchema(items), []);
  const keys = schema['x-kubernetes-list-map-keys'];
  if (kind !== 'map' || !isList(keys)) return list(readSchema(items));
  return list(
    readSchema(items),
    keys.filter((key) => typeof key === 'string'),
  );
}
