import {
  type Json,
  type JsonObject,
  isList,
  isObject,
  sameJson,
  stringAt,
  valueAt,
} from '../../kinds/json.js';
import { type FieldSet, childrenOf, fieldChanges, fieldText, fieldsOf } from '../../kinds/field-set.js';
import type { Type } from '../../kinds/type.js';
import {
  type Ownership,
  type Writer,
  newOwnership,
  ownershipsOf,
  without,
} from '../../objects/managed-fields.js';
import { type KubeObject, timestamp } from '../../objects/kube-object.js';
import type { Resource } from '../../objects/resources.js';
import { StatusError, badRequest } from '../../objects/status-error.js';
import { checkKind } from '../requests/parse-body.js';

interface Applied {
  readonly object: JsonObject;
  readonly ownerships: readonly Ownership[];
}

/**
 * Merges a configuration into an object (server-side apply). Afterwards the manager owns exactly the fields of the
 * configuration. Fields that the manager no longer applies are removed unless another manager owns them, too. If a
 * field of another manager would change, throws 409; with `isForced`, the other manager loses the field.
 */
export function applyConfiguration(
  { type, apiVersion }: { readonly type: Type; readonly apiVersion: string },
  live: KubeObject | null,
  configuration: JsonObject,
  writer: Writer,
): Applied {
  const fields = fieldsOf(type, configuration);
  const known = ownershipsOf(live);
  const isOwn = (one: Ownership): boolean =>
    one.operation === 'Apply' && one.manager === writer.manager && one.subresource === writer.subresource;
  const own = known.find(isOwn) ?? newOwnership(writer, 'Apply', apiVersion);
  const others = known.filter((one) => !isOwn(one));
  const kept = new Set([...fields, ...others.flatMap((one) => [...one.fields])]);
  const merged = mergeTyped(type, live ?? undefined, configuration);
  const object = removeFields(type, merged, without(own.fields, kept), '');
  const { changed, removed } = fieldChanges(type, live ?? {}, isObject(object) ? object : {});
  const taken = new Set([...changed].filter((field) => fields.has(field)));
  if (writer.isForced !== true) refuseConflicts(others, taken);
  const isSame = sameSet(own.fields, fields) && own.apiVersion === apiVersion;
  const time = isSame ? own.time : timestamp(writer.nowMs);
  return {
    object: isObject(object) ? object : {},
    ownerships: [
      { ...own, apiVersion, time, fields },
      ...others.map((one) => ({ ...one, fields: without(without(one.fields, taken), removed) })),
    ],
  };
}

function sameSet(a: FieldSet, b: FieldSet): boolean {
  return a.size === b.size && [...a].every((field) => b.has(field));
}

function refuseConflicts(others: readonly Ownership[], taken: FieldSet): void {
  const causes = others.flatMap((other) =>
    [...other.fields]
      .filter((field) => taken.has(field))
      .sort()
      .map((field) => ({
        reason: 'FieldManagerConflict',
        message: `conflict with ${ownerText(other)}`,
        field: fieldText(field),
      })),
  );
  if (causes.length === 0) return;
  const count = causes.length === 1 ? '1 conflict' : `${causes.length} conflicts`;
  const list = causes.map(({ message, field }) => `${message}: ${field}`).join('; ');
  throw new StatusError(409, 'Conflict', `Apply failed with ${count}: ${list}`, { causes });
}

function ownerText({ manager, subresource, operation, apiVersion }: Ownership): string {
  const part = subresource === '' ? '' : ` with subresource "${subresource}"`;
  return `"${manager}"${part}${operation === 'Update' ? ` using ${apiVersion}` : ''}`;
}

function mergeTyped(type: Type, live: Json | undefined, configured: Json): Json {
  const wanted = childrenOf(type, configured);
  const present = live === undefined ? null : childrenOf(type, live);
  if (wanted === null || present === null) return configured;
  if (isList(configured)) {
    const kept = [...present].map(([step, { type: of, value }]) => {
      const item = wanted.get(step);
      return item === undefined ? value : mergeTyped(of, value, item.value);
    });
    const added = [...wanted].filter(([step]) => !present.has(step)).map(([, { value }]) => value);
    return [...kept, ...added];
  }
  if (!isObject(configured) || !isObject(live)) return configured;
  const result: Record<string, Json | undefined> = { ...live };
  for (const [step, child] of wanted) {
    const name = step.slice('f:'.length);
    result[name] = mergeTyped(child.type, live[name], child.value);
  }
  return result;
}

function removeFields(type: Type, value: Json, gone: FieldSet, path: string): Json | undefined {
  if (gone.size === 0) return value;
  const children = childrenOf(type, value);
  if (children === null) return gone.has(path) ? undefined : value;
  const rest: (readonly [string, Json])[] = [];
  for (const [step, child] of children) {
    const childPath = path === '' ? step : `${path}\n${step}`;
    const kept = removeFields(child.type, child.value, gone, childPath);
    if (kept !== undefined) rest.push([step, kept]);
  }
  const isItem = /(^|\n)[kv]:[^\n]*$/.test(path);
  if (gone.has(path) && (isItem || rest.length === 0)) return undefined;
  if (isList(value)) return rest.map(([, item]) => item);
  return Object.fromEntries(rest.map(([step, member]) => [step.slice('f:'.length), member]));
}

/**
 * Throws 400 if an apply configuration has no apiVersion or kind, has the apiVersion or kind of another resource, or
 * has `managedFields`.
 */
export function checkConfiguration(resource: Resource, apiVersion: string, configuration: JsonObject): void {
  if (!stringAt(configuration, 'apiVersion') || !stringAt(configuration, 'kind'))
    throw badRequest("error decoding YAML: Object 'Kind' or 'apiVersion' is missing in the configuration");
  checkKind(resource, apiVersion, configuration);
  const managed = valueAt(configuration, 'metadata', 'managedFields') ?? [];
  if (!sameJson(managed, [])) throw badRequest('metadata.managedFields must be nil');
}
