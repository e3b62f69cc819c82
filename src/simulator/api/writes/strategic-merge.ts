import { type Json, type JsonObject, isList, isObject, sameJson } from '../../json/json.js';
import { type Type, any } from '../../kinds/type.js';

const ORDER = '$setElementOrder/';
const DELETE_FROM = '$deleteFromPrimitiveList/';
const RETAIN = '$retainKeys';

/**
 * Applies a strategic merge patch. It differs from a JSON merge patch for lists with merge keys (containers, env,
 * conditions), which are merged by the first key.
 */
export function strategicMergePatch(type: Type, target: Json | undefined, patch: Json): Json {
  if (isList(patch)) return mergeLists(type, isList(target) ? target : [], patch);
  if (!isObject(patch)) return patch;
  if (patch['$patch'] === 'replace') return without(patch, '$patch');
  if (patch['$patch'] === 'delete') return {};
  const retained = patch[RETAIN];
  const known = isObject(target) ? target : {};
  const kept = isList(retained)
    ? Object.entries(known).filter(([name]) => retained.includes(name))
    : Object.entries(known);
  const result: Record<string, Json | undefined> = Object.fromEntries(kept);
  for (const [name, value] of Object.entries(patch)) {
    if (value === undefined || name === RETAIN || name.startsWith(ORDER)) continue;
    if (name.startsWith(DELETE_FROM)) {
      const list = name.slice(DELETE_FROM.length);
      const gone = isList(value) ? value : [];
      const items = result[list];
      if (isList(items)) result[list] = items.filter((item) => !gone.some((one) => sameJson(one, item)));
    } else if (value === null) Reflect.deleteProperty(result, name);
    else result[name] = strategicMergePatch(memberType(type, name), result[name], value);
  }
  return inOrder(type, result, patch);
}

function memberType(type: Type, name: string): Type {
  if (type.is === 'object') return type.fields[name]?.type ?? any;
  return type.is === 'map' ? type.of : any;
}

function mergeLists(type: Type, target: readonly Json[], patch: readonly Json[]): Json {
  if (type.is !== 'list' || type.keys === undefined) return patch;
  const [key] = type.keys;
  if (key === undefined)
    return [...target, ...patch.filter((item) => !target.some((one) => sameJson(one, item)))];
  const result = patch.some((item) => isObject(item) && item['$patch'] === 'replace') ? [] : [...target];
  for (const item of patch) {
    if (!isObject(item) || item['$patch'] === 'replace') continue;
    const index = result.findIndex((old) => isObject(old) && sameJson(old[key], item[key]));
    if (item['$patch'] === 'delete') {
      if (index >= 0) result.splice(index, 1);
    } else if (index >= 0) result[index] = strategicMergePatch(type.of, result[index], item);
    else result.push(strategicMergePatch(type.of, undefined, item));
  }
  return result;
}

/** Sorts a list by `$setElementOrder`; unlisted items come last. */
function inOrder(type: Type, object: Record<string, Json | undefined>, patch: JsonObject): JsonObject {
  for (const [name, order] of Object.entries(patch)) {
    if (!name.startsWith(ORDER) || !isList(order)) continue;
    const list = name.slice(ORDER.length);
    const items = object[list];
    const member = memberType(type, list);
    if (!isList(items) || member.is !== 'list') continue;
    const [key] = member.keys ?? [];
    const keyOf = (item: Json): Json | undefined => (key !== undefined && isObject(item) ? item[key] : item);
    const rank = (item: Json): number => {
      const index = order.findIndex((one) => sameJson(keyOf(one), keyOf(item)));
      return index < 0 ? order.length : index;
    };
    object[list] = [...items].sort((a, b) => rank(a) - rank(b));
  }
  return object;
}

function without(object: JsonObject, member: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== member));
}
