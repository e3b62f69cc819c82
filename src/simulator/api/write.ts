import { type Json, type JsonObject, isObject, objectAt, sameJson, stringAt } from '../json.js';
import { type Arrival, admitCustom } from '../crd/admit.js';
import { DEFINITIONS, checkDefinition, establishedStatus } from '../crd/definition.js';
import type { ApiContext } from './context.js';
import { type Writer, ownReplicas } from './managed-fields.js';
import { type KubeObject, asKubeObject, makeUid, timestamp, withMetadata } from './objects.js';
import { jsonPatch, mergePatch, strategicMergePatch } from './patch.js';
import { type Resource, apiVersionOf } from './resources.js';
import { scaleOf, withScale } from './scale.js';
import {
  alreadyExists,
  badRequest,
  conflict,
  methodNotAllowed,
  namespaceTerminating,
  notFound,
  uidConflict,
  unsupportedMediaType,
} from './status-error.js';
import { checkKind, checkReplicas, parsePatch, validate } from './validate.js';
import { fromWire, toWire } from './wire.js';

/** Which object a write is about. */
export interface Target {
  readonly resource: Resource;
  readonly subresource: string;
  readonly namespace: string | null;
  readonly name: string;
}

const NAMESPACES = '/namespaces';

/** Creates an object from a manifest; 404 without its namespace, 409 where the name is taken. */
export function createObject(
  context: ApiContext,
  target: Omit<Target, 'name' | 'subresource'>,
  body: JsonObject,
  writer: Writer,
): KubeObject {
  const { store, random } = context;
  const { resource } = target;
  checkKind(resource, apiVersionOf(resource), body);
  const metadata = objectAt(body, 'metadata');
  const namespace = resource.namespaced ? (target.namespace ?? stringAt(metadata, 'namespace')) : null;
  if (
    stringAt(metadata, 'namespace') !== null &&
    resource.namespaced &&
    stringAt(metadata, 'namespace') !== namespace
  ) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  const generateName = stringAt(metadata, 'generateName') ?? '';
  const name =
    stringAt(metadata, 'name') ?? (generateName === '' ? '' : generateName + makeUid(random).slice(0, 5));
  if (namespace !== null) checkNamespace(context, namespace, { resource, name });
  if (store.get(resource.storage, namespace, name) !== null) {
    throw alreadyExists({ resource: resource.plural, group: resource.group, name });
  }
  const object = asKubeObject({
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    ...body,
    metadata: {
      ...metadata,
      name,
      namespace: namespace ?? undefined,
      uid: makeUid(random),
      resourceVersion: '',
      generation: resource.hasGeneration ? 1 : undefined,
      creationTimestamp: timestamp(writer.nowMs),
    },
  });
  const complete = admit(resource, withDefaults(resource, object), { writer, arrival: 'body' });
  return keep(context, ownReplicas(null, fromWire(resource, complete), writer), { resource, writer });
}

/** Stores it, unless the answer alone is wanted. */
function keep(
  { store }: ApiContext,
  object: KubeObject,
  { resource, writer }: { readonly resource: Resource; readonly writer: Writer },
): KubeObject {
  return writer.isDryRun === true ? object : store.put(resource.storage, object);
}

/** The object as it may be stored; throws where it is refused. */
function admit(
  resource: Resource,
  object: KubeObject,
  { writer, arrival }: { readonly writer: Writer; readonly arrival: Arrival },
): KubeObject {
  validate(resource, object);
  if (resource.storage === DEFINITIONS) {
    checkDefinition(object);
    return { ...object, status: establishedStatus(object, writer.nowMs) };
  }
  return admitCustom(resource, object, { isStrict: writer.isStrict ?? false, arrival });
}

function checkNamespace(
  { store }: ApiContext,
  namespace: string,
  { resource, name }: Pick<Target, 'resource' | 'name'>,
): void {
  const stored = store.get(NAMESPACES, null, namespace);
  if (stored === null) throw notFound({ resource: 'namespaces', group: '', name: namespace });
  if (stored.metadata['deletionTimestamp'] === undefined) return;
  throw namespaceTerminating({ resource: resource.plural, group: resource.group, name }, namespace);
}

/** What the real server fills in and `kubectl describe` shows. */
const ROLLING: JsonObject = {
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
  revisionHistoryLimit: 10,
  progressDeadlineSeconds: 600,
};

function withDefaults(resource: Resource, object: KubeObject): KubeObject {
  if (resource.schema !== null && resource.subresources.includes('status')) {
    return { ...object, status: undefined };
  }
  if (resource.kind === 'Namespace') return { status: { phase: 'Active' }, ...object };
  if (!resource.subresources.includes('scale') || resource.isCustom) return object;
  const defaults = resource.kind === 'Deployment' ? { replicas: 1, ...ROLLING } : { replicas: 1 };
  return { ...object, spec: { ...defaults, ...objectAt(object, 'spec') } };
}

/** Replaces an object, its status or its scale (PUT). */
export function updateObject(
  context: ApiContext,
  target: Target,
  body: JsonObject,
  writer: Writer,
): KubeObject {
  if (target.subresource !== 'scale') checkKind(target.resource, apiVersionOf(target.resource), body);
  return change(context, target, { edit: () => body, arrival: 'body' }, writer);
}

/** Applies a patch of one of three forms; 415 for any other. */
export function patchObject(
  context: ApiContext,
  target: Target,
  patch: { readonly contentType: string; readonly body: string },
  writer: Writer,
): KubeObject {
  const apply = patcherOf(target.resource, patch.contentType);
  const parsed = parsePatch(patch.body);
  return change(context, target, { edit: (current) => apply(current, parsed), arrival: 'patch' }, writer);
}

function patcherOf(resource: Resource, contentType: string): (current: JsonObject, patch: Json) => Json {
  switch (contentType.split(';')[0]?.trim()) {
    case 'application/merge-patch+json':
      return mergePatch;
    case 'application/json-patch+json':
      return jsonPatch;
    case 'application/strategic-merge-patch+json':
      if (!resource.isCustom) return (current, patch) => strategicMergePatch(current, patch);
  }
  const forms = ['application/json-patch+json', 'application/merge-patch+json'];
  throw unsupportedMediaType(
    resource.isCustom ? forms : [...forms, 'application/strategic-merge-patch+json'],
  );
}

function change(
  context: ApiContext,
  target: Target,
  { edit, arrival }: { readonly edit: (current: JsonObject) => Json; readonly arrival: Arrival },
  writer: Writer,
): KubeObject {
  const { resource, subresource, namespace, name } = target;
  const identity = { resource: resource.plural, group: resource.group, name };
  const current = context.store.get(resource.storage, namespace, name);
  if (current === null) throw notFound(identity);
  if (subresource !== '' && !resource.subresources.some((known) => known === subresource))
    throw methodNotAllowed();
  const shown = subresource === 'scale' ? scaleOf(current) : toWire(resource, current);
  const wanted = edit(shown);
  if (!isObject(wanted)) throw badRequest('the object provided is unrecognized: it is no object');
  checkPreconditions(identity, current, wanted);
  const next = admit(resource, merge(current, wanted, target), { writer, arrival });
  const stored = sameJson(withoutVersion(current), withoutVersion(next))
    ? current
    : keep(context, ownReplicas(current, countGeneration(resource, current, next), writer), {
        resource,
        writer,
      });
  return subresource === 'scale' ? scaleOf(stored) : stored;
}

function checkPreconditions(
  identity: { readonly resource: string; readonly group: string; readonly name: string },
  current: KubeObject,
  wanted: JsonObject,
): void {
  const uid = stringAt(wanted, 'metadata', 'uid') ?? '';
  if (uid !== '' && uid !== current.metadata.uid) throw uidConflict(identity, uid, current.metadata.uid);
  const version = stringAt(wanted, 'metadata', 'resourceVersion') ?? '';
  if (version !== '' && version !== current.metadata.resourceVersion) throw conflict(identity);
  const name = stringAt(wanted, 'metadata', 'name') ?? identity.name;
  if (name !== identity.name) {
    throw badRequest(
      `the name of the object (${name}) does not match the name on the URL (${identity.name})`,
    );
  }
}

/** What is stored: only the part that the path speaks of changes, and identity never does. */
function merge(current: KubeObject, wanted: JsonObject, { resource, subresource }: Target): KubeObject {
  if (subresource === 'scale') {
    checkReplicas({ kind: 'Scale', group: 'autoscaling', name: current.metadata.name }, wanted);
    return withScale(current, wanted);
  }
  if (subresource === 'status') return { ...current, status: wanted['status'] };
  const { name, namespace, uid, resourceVersion, creationTimestamp, generation } = current.metadata;
  const metadata = { ...objectAt(wanted, 'metadata') };
  const identity = { name, namespace, uid, resourceVersion, creationTimestamp, generation };
  const managedFields = objectAt(current, 'metadata')['managedFields'];
  const kept = { ...metadata, ...identity, managedFields };
  const { apiVersion, kind } = toWire(resource, current);
  const next = fromWire(resource, asKubeObject({ ...wanted, apiVersion, kind, metadata: kept }));
  return resource.subresources.includes('status') ? { ...next, status: current['status'] } : next;
}

function countGeneration(resource: Resource, current: KubeObject, next: KubeObject): KubeObject {
  if (!resource.hasGeneration || sameJson(current['spec'], next['spec'])) return next;
  return withMetadata(next, { generation: (current.metadata.generation ?? 0) + 1 });
}

function withoutVersion(object: KubeObject): KubeObject {
  return withMetadata(object, { resourceVersion: '' });
}
