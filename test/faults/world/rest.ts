import type { ApiRecord } from './log.js';
import type { Store, StoredObject } from './store.js';

export type Json = Readonly<Record<string, unknown>>;

/** What the API server answers. */
export interface WireAnswer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: Json;
}

/** Which object or list a path names. */
export interface Place {
  readonly resource: string;
  readonly namespace: string | null;
  readonly name: string | null;
  readonly subresource: string | null;
}

const PATH =
  /^\/(?:api\/v1|apis\/[^/]+\/[^/]+)(?:\/namespaces\/([^/]+))?\/([a-z]+)(?:\/([^/]+))?(?:\/([a-z]+))?$/;

const KINDS: Readonly<Record<string, { readonly apiVersion: string; readonly kind: string }>> = {
  pods: { apiVersion: 'v1', kind: 'Pod' },
  deployments: { apiVersion: 'apps/v1', kind: 'Deployment' },
  statefulsets: { apiVersion: 'apps/v1', kind: 'StatefulSet' },
  replicasets: { apiVersion: 'apps/v1', kind: 'ReplicaSet' },
  horizontalpodautoscalers: { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler' },
  leases: { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
  configmaps: { apiVersion: 'v1', kind: 'ConfigMap' },
  events: { apiVersion: 'events.k8s.io/v1', kind: 'Event' },
};

const MOST_PLACES = 5000;
const places = new Map<string, Place | null>();

/** The place of a path of the API; null for one that is not served. */
export function placeOf(path: string): Place | null {
  const known = places.get(path);
  if (known !== undefined) return known;
  const place = readPlace(path);
  if (places.size >= MOST_PLACES) places.clear();
  places.set(path, place);
  return place;
}

function readPlace(path: string): Place | null {
  const match = PATH.exec(path);
  const [, namespace, resource, name, subresource] = match ?? [];
  if (resource === undefined || KINDS[resource] === undefined) return null;
  return {
    resource,
    namespace: namespace ?? null,
    name: name === undefined ? null : decodeURIComponent(name),
    subresource: subresource ?? null,
  };
}

interface Doing {
  readonly nowMs: number;
  /** What an admission webhook makes of a new count; null: nothing. */
  readonly override: number | null;
}

/** Does what a request asks for, and notes in its record what was written. */
export function applyRequest(store: Store, record: ApiRecord, doing: Doing): WireAnswer {
  const place = placeOf(record.path);
  if (place === null) return status(404, `the server could not find ${record.path}`);
  const { resource, namespace, name, subresource } = place;
  if (name === null) {
    if (record.method === 'POST') return create(store, record, doing);
    return ok(listOf(store, resource, { namespace, selector: record.query['labelSelector'] ?? '' }));
  }
  const object = store.get(resource, namespace ?? '', name);
  if (subresource === 'scale' && record.method === 'PATCH') record.live = liveOf(object);
  // Events are not kept: nobody reads them.
  if (resource === 'events') return ok({ kind: 'Event', metadata: { name } });
  if (object === null) return status(404, `${resource} "${name}" not found`);
  if (record.method === 'GET') return ok(subresource === 'scale' ? scaleOf(object) : object);
  const refused = preconditionFailure(object, preconditionsOf(record));
  if (refused !== null) return refused;
  if (record.method === 'DELETE') {
    store.remove(resource, namespace ?? '', name);
    return ok({ kind: 'Status', status: 'Success' });
  }
  if (subresource === 'scale') return patchScale(store, object, { record, ...doing });
  const body = record.body as Json;
  const merged = record.method === 'PATCH' ? merge(object, body) : { ...body };
  const written = store.put(resource, keepIdentity(merged, object));
  record.written = { atMs: doing.nowMs, uid: written.metadata.uid, from: null, to: null, object: written };
  return ok(written);
}

function create(store: Store, record: ApiRecord, { nowMs }: Doing): WireAnswer {
  const { resource, namespace } = record;
  const body = record.body as StoredObject;
  if (resource === 'events') return ok({ kind: 'Event', metadata: { name: body.metadata.name } }, 201);
  const { name } = body.metadata;
  if (store.get(resource, namespace ?? '', name) !== null) return status(409, `${name} already exists`);
  const written = store.put(resource, {
    ...body,
    metadata: { ...body.metadata, namespace: namespace ?? '' },
  });
  record.written = { atMs: nowMs, uid: written.metadata.uid, from: null, to: null, object: written };
  return ok(written, 201);
}

function patchScale(
  store: Store,
  object: StoredObject,
  { record, nowMs, override }: Doing & { readonly record: ApiRecord },
): WireAnswer {
  const wanted = (record.body as { spec?: { replicas?: number } }).spec?.replicas;
  if (wanted === undefined) return ok(scaleOf(object));
  const from = replicasOf(object);
  const to = override ?? wanted;
  const spec = { ...(object['spec'] as Json), replicas: to };
  // A write that changes nothing makes no new version.
  const after = from === to ? object : store.put('deployments', { ...object, spec });
  record.written = { atMs: nowMs, uid: after.metadata.uid, from, to, object: null };
  return ok(scaleOf(after));
}

/** `spec.replicas` of a workload. */
export function replicasOf(object: StoredObject): number {
  return (object['spec'] as { replicas?: number }).replicas ?? 1;
}

function liveOf(object: StoredObject | null): ApiRecord['live'] {
  if (object === null) return null;
  const { uid, resourceVersion } = object.metadata;
  return { uid, replicas: replicasOf(object), resourceVersion };
}

function scaleOf(object: StoredObject): Json {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const replicas = replicasOf(object);
  const selector = (object['spec'] as { selector?: { matchLabels?: Record<string, string> } }).selector;
  const labels = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`);
  return {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name, namespace, uid, resourceVersion },
    spec: replicas === 0 ? {} : { replicas },
    status: {
      replicas: (object['status'] as { replicas?: number } | undefined)?.replicas ?? 0,
      selector: labels.join(','),
    },
  };
}

interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

function preconditionsOf({ method, body }: ApiRecord): Preconditions | undefined {
  const { metadata, preconditions } = body as { metadata?: Preconditions; preconditions?: Preconditions };
  return method === 'DELETE' ? preconditions : metadata;
}

function preconditionFailure(object: StoredObject, wanted: Preconditions | undefined): WireAnswer | null {
  const { uid, resourceVersion } = object.metadata;
  if (wanted?.uid !== undefined && wanted.uid !== uid) return status(409, 'the uid is another one');
  if (wanted?.resourceVersion !== undefined && wanted.resourceVersion !== resourceVersion)
    return status(409, 'the object has been modified');
  return null;
}

/** RFC 7386. */
function merge(target: Json, patch: Json): Json {
  const result: Record<string, unknown> = { ...target };
  for (const [key, value] of Object.entries(patch)) {
    const before = result[key];
    // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- that is what a null asks for
    if (value === null) delete result[key];
    else if (isObject(value)) result[key] = merge(isObject(before) ? before : {}, value);
    else result[key] = value;
  }
  return result;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function keepIdentity(object: Json, before: StoredObject): StoredObject {
  const { name, namespace } = before.metadata;
  const metadata = { ...(object['metadata'] as StoredObject['metadata']), name, namespace };
  return { ...object, apiVersion: before.apiVersion, kind: before.kind, metadata };
}

function listOf(
  store: Store,
  resource: string,
  { namespace, selector }: { readonly namespace: string | null; readonly selector: string },
): Json {
  const { apiVersion, kind } = KINDS[resource] ?? { apiVersion: 'v1', kind: '' };
  const items = store.list(resource, namespace).filter((object) => isSelected(object, selector));
  return { apiVersion, kind: `${kind}List`, metadata: { resourceVersion: String(store.version) }, items };
}

/** By one label with its value; an empty selector selects all. */
function isSelected({ metadata }: StoredObject, selector: string): boolean {
  const [label = '', value] = selector.split('=');
  const labels = (metadata['labels'] ?? {}) as Readonly<Record<string, string>>;
  return selector === '' || labels[label] === value;
}

function ok(body: Json, code = 200): WireAnswer {
  return { status: code, retryAfter: null, body };
}

function status(code: number, message: string): WireAnswer {
  return { status: code, retryAfter: null, body: { kind: 'Status', status: 'Failure', code, message } };
}
