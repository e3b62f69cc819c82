import { type Json, type JsonObject, isList, isObject, sameJson, stringAt } from '../../kinds/json.js';
import { StatusError, badRequest } from '../../objects/status-error.js';
import { type Type, memberType } from '../../kinds/type.js';

export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const result: Record<string, Json | undefined> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) Reflect.deleteProperty(result, key);
    else if (value !== undefined) result[key] = mergePatch(result[key], value);
  }
  return result;
}

function without(object: JsonObject, member: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== member));
}

/**
 * Applies a JSON patch (RFC 6902). As in the real server, an invalid patch results in 400. A failed `test`, or a path
 * that does not exist, results in 422.
 */
export function jsonPatch(target: Json, patch: Json): Json {
  if (!isList(patch)) throw badRequest('error decoding patch: a JSON patch is a list of operations');
  let result = target;
  for (const operation of patch) result = applyOperation(result, operation);
  return result;
}

function applyOperation(document: Json, operation: Json): Json {
  const path = pointer(stringAt(operation, 'path'));
  const value = isObject(operation) ? operation['value'] : undefined;
  const op = stringAt(operation, 'op');
  switch (op) {
    case 'add':
      return edit(document, path, { insert: value ?? null });
    case 'remove':
      return edit(document, path, 'remove');
    case 'replace':
      requireAt(document, path, 'replace');
      return edit(document, path, { set: value ?? null });
    case 'test':
      if (!sameJson(find(document, path), value)) throw unprocessable(`testing value ${text(path)} failed`);
      return document;
    case 'copy':
    case 'move': {
      const from = pointer(stringAt(operation, 'from'));
      const moved = requireAt(document, from, op);
      return edit(op === 'move' ? edit(document, from, 'remove') : document, path, { insert: moved });
    }
    default:
      throw badRequest(`Unexpected kind: ${op ?? 'none'}`);
  }
}

function pointer(path: string | null): readonly string[] {
  if (path === null || (path !== '' && !path.startsWith('/')))
    throw badRequest('error decoding patch: bad path');
  return path
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function text(path: readonly string[]): string {
  return `/${path.join('/')}`;
}

function unprocessable(message: string): StatusError {
  return new StatusError(
    422,
    'Invalid',
    `the server rejected our request due to an error in our request: ${message}`,
    {},
  );
}

function missing(path: readonly string[], op = ''): StatusError {
  return unprocessable(`${op}operation does not apply: doc is missing path: ${text(path)}`);
}

function find(document: Json | undefined, path: readonly string[]): Json | undefined {
  let current = document;
  for (const step of path) {
    if (isList(current)) current = current[Number(step)];
    else current = isObject(current) ? current[step] : undefined;
  }
  return current;
}

function requireAt(document: Json, path: readonly string[], op: string): Json {
  const found = find(document, path);
  if (found === undefined) throw missing(path, `${op} `);
  return found;
}

type Edit = 'remove' | { readonly insert: Json } | { readonly set: Json };

function edit(document: Json, path: readonly string[], change: Edit): Json {
  const [step, ...rest] = path;
  if (step === undefined) return change === 'remove' ? null : 'insert' in change ? change.insert : change.set;
  if (isList(document)) return editList(document, { step, rest, path }, change);
  if (!isObject(document)) throw missing(path);
  const inner = document[step];
  if (rest.length > 0) {
    if (inner === undefined) throw missing(path);
    return { ...document, [step]: edit(inner, rest, change) };
  }
  if (change !== 'remove') return { ...document, [step]: 'insert' in change ? change.insert : change.set };
  if (inner === undefined) throw missing(path, 'remove ');
  return without(document, step);
}

interface Place {
  readonly step: string;
  readonly rest: readonly string[];
  readonly path: readonly string[];
}

function editList(list: readonly Json[], { step, rest, path }: Place, change: Edit): Json {
  const index = step === '-' ? list.length : Number(step);
  const isInsert = rest.length === 0 && change !== 'remove' && 'insert' in change;
  if (!Number.isInteger(index) || index < 0 || index > list.length - (isInsert ? 0 : 1)) {
    throw unprocessable(`operation does not apply: invalid index: ${text(path)}`);
  }
  const result = [...list];
  if (isInsert) result.splice(index, 0, change.insert);
  else if (rest.length === 0 && change === 'remove') result.splice(index, 1);
  else result[index] = edit(list[index] ?? null, rest, change);
  return result;
}

const ORDER = '$setElementOrder/';
const DELETE_FROM = '$deleteFromPrimitiveList/';
const RETAIN = '$retainKeys';

/**
 * Applies a strategic merge patch. In contrast to a JSON merge patch, it merges lists that have merge keys, such as
 * containers, env and conditions; items with the same first key are merged.
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

/** Sorts the lists of an object by `$setElementOrder`. Items that are not in `$setElementOrder` come last. */
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
