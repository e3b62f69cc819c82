import { type Json, type JsonObject, isObject, listAt, objectAt, stringAt } from '../kinds/json.js';
import { type FieldSet, fieldChanges, fieldsFromTree, fieldsToTree } from '../kinds/field-set.js';
import type { Type } from '../kinds/type.js';
import { cached } from '../../units/maps.js';
import { type KubeObject, timestamp, withMetadata } from './kube-object.js';

export interface Writer {
  readonly manager: string;
  /** The subresource of the request, such as `scale` or `status`; empty: none. */
  readonly subresource: string;
  readonly nowMs: number;
  /** Whether an unknown field is an error (`fieldValidation=Strict`). */
  readonly isStrict?: boolean;
  /** A list to which the strings of `Warning` headers are added; unset unless `fieldValidation=Warn`. */
  readonly warnings?: string[];
  /** Whether nothing is stored (`dryRun=All`), as in requests of `kubectl diff`. */
  readonly isDryRun?: boolean;
  readonly isForced?: boolean;
}

/** Returns the field manager of a request: `fieldManager`, otherwise the user agent before its first slash. */
export function managerOf(query: URLSearchParams, userAgent: string | undefined): string {
  const named = query.get('fieldManager');
  if (named !== null && named !== '') return named;
  const agent = (userAgent ?? '').split('/')[0] ?? '';
  return agent === '' ? 'unknown' : agent.slice(0, 128);
}

export interface Ownership {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string;
  readonly fields: FieldSet;
}

/** Parses `fieldsV1`. The result is cached, because each write passes on the entries that have not changed. */
const readFields = cached(fieldsFromTree);

export function ownershipsOf(object: KubeObject | null): readonly Ownership[] {
  return listAt(object?.metadata, 'managedFields')
    .filter((entry) => isObject(entry) && isObject(entry['fieldsV1']))
    .map((entry) => ({
      manager: stringAt(entry, 'manager') ?? '',
      operation: stringAt(entry, 'operation') === 'Apply' ? 'Apply' : 'Update',
      apiVersion: stringAt(entry, 'apiVersion') ?? '',
      subresource: stringAt(entry, 'subresource') ?? '',
      time: stringAt(entry, 'time') ?? '',
      fields: readFields(objectAt(entry, 'fieldsV1')),
    }));
}

/** Sets the owners of fields. An owner without fields is dropped. */
export function withOwnerships(object: KubeObject, ownerships: readonly Ownership[]): KubeObject {
  const order = ({ operation, time, manager }: Ownership): string => [operation, time, manager].join();
  const entries = ownerships
    .filter(({ fields }) => fields.size > 0)
    .sort((a, b) => (order(a) < order(b) ? -1 : 1))
    .map(entryOf);
  return withMetadata(object, { managedFields: entries.length === 0 ? undefined : entries });
}

function entryOf({ manager, operation, apiVersion, subresource, time, fields }: Ownership): Json {
  const entry: JsonObject = {
    manager,
    operation,
    apiVersion,
    time,
    fieldsType: 'FieldsV1',
    fieldsV1: fieldsToTree(fields),
  };
  return subresource === '' ? entry : { ...entry, subresource };
}

/**
 * Returns the object after a POST, PUT or PATCH: the writer is the only owner of the fields that it has changed, and
 * removed fields have no owner. `before`: the stored object; null: the object is new, and is compared with `empty`, an
 * empty object of its type.
 */
export function ownChanges(
  change: {
    readonly type: Type;
    readonly before: KubeObject | null;
    readonly empty: JsonObject;
    readonly after: KubeObject;
  },
  writer: Writer,
): KubeObject {
  const { type, before, empty, after } = change;
  const { changed, removed } = fieldChanges(type, before ?? empty, after);
  if (changed.size === 0 && removed.size === 0) return after;
  const isOwn = (one: Ownership): boolean =>
    one.operation === 'Update' &&
    one.manager === writer.manager &&
    one.apiVersion === after.apiVersion &&
    one.subresource === writer.subresource;
  const known = ownershipsOf(after);
  const own = known.find(isOwn) ?? newOwnership(writer, 'Update', after.apiVersion);
  const isUnchanged = removed.size === 0 && [...changed].every((field) => own.fields.has(field));
  const others = known.filter((one) => !isOwn(one));
  const isTaken = others.some(({ fields }) => [...changed].some((field) => fields.has(field)));
  if (isUnchanged && !isTaken) return after;
  const next = without(new Set([...own.fields, ...changed]), removed);
  const time = isUnchanged ? own.time : timestamp(writer.nowMs);
  return withOwnerships(after, [
    { ...own, time, fields: next },
    ...others.map((one) => ({ ...one, fields: without(without(one.fields, changed), removed) })),
  ]);
}

export function newOwnership(
  { manager, subresource, nowMs }: Writer,
  operation: Ownership['operation'],
  apiVersion: string,
): Ownership {
  return { manager, operation, apiVersion, subresource, time: timestamp(nowMs), fields: new Set() };
}

export function without(fields: FieldSet, taken: FieldSet): FieldSet {
  return taken.size === 0 ? fields : new Set([...fields].filter((field) => !taken.has(field)));
}
