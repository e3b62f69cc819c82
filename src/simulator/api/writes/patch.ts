import { type Json, type JsonObject, isList, isObject, sameJson, stringAt } from '../../json/json.js';
import { StatusError, badRequest } from '../../objects/status-error.js';

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
 * Applies a JSON patch (RFC 6902). Like the real server, throws 400 for an invalid patch, and 422 for a failed `test`
 * or an operation on a path that does not exist.
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
  if (found === undefined)
    throw unprocessable(`${op} operation does not apply: doc is missing path: ${text(path)}`);
  return found;
}

type Edit = 'remove' | { readonly insert: Json } | { readonly set: Json };

function edit(document: Json, path: readonly string[], change: Edit): Json {
  const [step, ...rest] = path;
  if (step === undefined) return change === 'remove' ? null : 'insert' in change ? change.insert : change.set;
  if (isList(document)) return editList(document, { step, rest, path }, change);
  if (!isObject(document))
    throw unprocessable(`operation does not apply: doc is missing path: ${text(path)}`);
  const inner = document[step];
  if (rest.length > 0) {
    if (inner === undefined)
      throw unprocessable(`operation does not apply: doc is missing path: ${text(path)}`);
    return { ...document, [step]: edit(inner, rest, change) };
  }
  if (change !== 'remove') return { ...document, [step]: 'insert' in change ? change.insert : change.set };
  if (inner === undefined)
    throw unprocessable(`remove operation does not apply: doc is missing path: ${text(path)}`);
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
