import { type Json, type JsonObject, isList, isObject, sameJson } from './json.js';
import { type ListType, type Type, memberType } from './type.js';

/**
 * Paths of fields. The steps of a path (`f:NAME`, `k:{...}`, `v:...`, as in `FieldsV1`) are joined by line feeds. A
 * map, an object or a list item may be in the set together with some of its own fields.
 */
export type FieldSet = ReadonlySet<string>;

/** `changed`: fields that are new or have a new value. `removed`: fields that do not exist anymore. */
interface FieldChanges {
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}

/** Fields that have no owners, because they identify the object, or because only the server writes them. */
const UNOWNED = new Set(['apiVersion', 'kind']);
const UNOWNED_METADATA = new Set([
  ...['name', 'namespace', 'uid', 'resourceVersion', 'generation', 'creationTimestamp', 'selfLink'],
  ...['managedFields', 'deletionTimestamp', 'deletionGracePeriodSeconds'],
]);

export function fieldChanges(type: Type, before: JsonObject, after: JsonObject): FieldChanges {
  const changes = { changed: new Set<string>(), removed: new Set<string>() };
  compare(type, ownable(before), ownable(after), '', changes);
  return changes;
}

export function fieldsOf(type: Type, value: JsonObject): FieldSet {
  const fields = new Set<string>();
  collect(type, ownable(value), '', fields, 'configured');
  // `metadata` itself has no owner, only its fields have owners.
  fields.delete('f:metadata');
  return fields;
}

function ownable(object: JsonObject): JsonObject {
  const members = Object.entries(object).filter(([name]) => !UNOWNED.has(name));
  const rest = Object.fromEntries(members);
  if (!isObject(rest['metadata'])) return rest;
  const metadata = Object.entries(rest['metadata']).filter(([name]) => !UNOWNED_METADATA.has(name));
  return { ...rest, metadata: Object.fromEntries(metadata) };
}

interface Child {
  readonly type: Type;
  readonly value: Json;
}

/**
 * Returns the children of a value by the step that leads to each child; null: the value is a leaf. Lists without keys
 * and atomic objects are leaves.
 */
export function childrenOf(type: Type, value: Json): ReadonlyMap<string, Child> | null {
  if (isList(value)) {
    if (type.is !== 'list' || type.keys === undefined) return null;
    const { of } = type;
    return new Map(value.map((item) => [stepOf(type, item), { type: of, value: item }]));
  }
  if (!isObject(value) || (type.is === 'object' && type.isAtomic === true)) return null;
  const children = new Map<string, Child>();
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined) children.set(`f:${name}`, { type: memberType(type, name), value: member });
  }
  return children;
}

/** Returns the step to a list item. If the item lacks a key field, the step contains the default of the field. */
function stepOf({ keys = [], of }: ListType, item: Json): string {
  if (keys.length === 0) return `v:${JSON.stringify(item)}`;
  const members = isObject(item) ? item : {};
  const fallback = (key: string): Json => (of.is === 'object' ? (of.fields[key]?.fallback ?? null) : null);
  const found = keys.map((key) => [key, members[key] ?? fallback(key)] as const);
  return `k:${JSON.stringify(Object.fromEntries(found.filter(([, value]) => value !== null)))}`;
}

function join(path: string, step: string): string {
  return path === '' ? step : `${path}\n${step}`;
}

function compare(
  type: Type,
  before: Json | undefined,
  after: Json,
  path: string,
  changes: { readonly changed: Set<string>; readonly removed: Set<string> },
): void {
  if (before === after) return;
  const children = childrenOf(type, after);
  const known = before === undefined || before === null ? null : childrenOf(type, before);
  if (children === null) {
    if (before !== undefined && known !== null) collect(type, before, path, changes.removed, 'all');
    if (!sameJson(before, after)) changes.changed.add(path);
    return;
  }
  // Null counts as the same field: if a map or list replaces it, the owner stays.
  if (before === undefined) changes.changed.add(path);
  for (const [step, child] of children)
    compare(child.type, known?.get(step)?.value, child.value, join(path, step), changes);
  for (const [step, child] of known ?? [])
    if (!children.has(step)) collect(child.type, child.value, join(path, step), changes.removed, 'all');
}

/**
 * Collects the paths of a value and its children in `fields`. With `configured`, maps and objects are added only if
 * they are empty; list items are always added.
 */
function collect(
  type: Type,
  value: Json,
  path: string,
  fields: Set<string>,
  which: 'all' | 'configured',
): void {
  const children = childrenOf(type, value);
  const last = path.slice(path.lastIndexOf('\n') + 1);
  const isItem = last.startsWith('k:') || last.startsWith('v:');
  const isMember = children === null || children.size === 0 || isItem || which === 'all';
  if (isMember && path !== '') fields.add(path);
  for (const [step, child] of children ?? [])
    collect(child.type, child.value, join(path, step), fields, which);
}

export function fieldsToTree(fields: FieldSet): JsonObject {
  const root: Record<string, Json> = {};
  for (const path of [...fields].sort()) {
    let node = root;
    for (const step of path.split('\n')) {
      const next = node[step];
      const child: Record<string, Json> = isObject(next) ? (next as Record<string, Json>) : {};
      node[step] = child;
      node = child;
    }
  }
  markMembers(root, '', fields);
  return root;
}

function markMembers(node: Record<string, Json>, path: string, fields: FieldSet): void {
  const steps = Object.keys(node);
  for (const step of steps) {
    const child = node[step];
    if (isObject(child ?? null)) markMembers(child as Record<string, Json>, join(path, step), fields);
  }
  if (path !== '' && steps.length > 0 && fields.has(path)) node['.'] = {};
}

export function fieldsFromTree(tree: JsonObject): FieldSet {
  const fields = new Set<string>();
  const walk = (node: Json | undefined, path: string): void => {
    if (!isObject(node)) return;
    const steps = Object.keys(node);
    if (path !== '' && (steps.length === 0 || steps.includes('.'))) fields.add(path);
    for (const step of steps) if (step !== '.') walk(node[step], join(path, step));
  };
  walk(tree, '');
  return fields;
}

/** Returns a field as messages about conflicts show it: `.spec.template.spec.containers[name="app"].image`. */
export function fieldText(path: string): string {
  return path
    .split('\n')
    .map((step) => {
      if (step.startsWith('f:')) return `.${step.slice(2)}`;
      if (step.startsWith('v:')) return `[=${step.slice(2)}]`;
      const keys: unknown = JSON.parse(step.slice(2));
      const terms = Object.entries(typeof keys === 'object' && keys !== null ? keys : {});
      return `[${terms.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(',')}]`;
    })
    .join('');
}
