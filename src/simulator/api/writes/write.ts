import { type Json, type JsonObject, isObject, objectAt, sameJson } from '../../kinds/json.js';
import { knownType } from '../../kinds/known.js';
import { scale as scaleType } from '../../kinds/meta.js';
import { type Type, any } from '../../kinds/type.js';
import { validateScale } from '../../validation/validate.js';
import { applyConfiguration, checkConfiguration } from './apply.js';
import type { ApiContext } from '../requests/request.js';
import { type Admission, createObject, keep, own, prepare } from './create.js';
import { type Writer, withOwnerships } from '../../objects/managed-fields.js';
import { type KubeObject, asKubeObject, withMetadata } from '../../objects/kube-object.js';
import { parseBody, parsePatch, checkKind } from '../requests/parse-body.js';
import { jsonPatch, mergePatch, strategicMergePatch } from './patch.js';
import {
  type Addressed,
  checkAddress,
  checkPreconditions,
  nameOf,
  requireVersion,
} from '../../objects/preconditions.js';
import { readObject, readScale, storedType, type Arrival } from '../../objects/read-object.js';
import { type Resource, apiVersionOf } from '../../objects/resources.js';
import { scaleOf, withScale, toWire } from '../../objects/wire.js';
import { badRequest, noSuchResource, notFound, unsupportedMediaType } from '../../objects/status-error.js';

export interface Written {
  readonly object: KubeObject;
  readonly isCreated: boolean;
}

/** Kinds whose objects a PUT creates if they do not exist. */
const CREATED_BY_PUT: readonly string[] = ['Lease', 'Event'];

export function updateObject(
  context: ApiContext,
  target: Addressed,
  body: JsonObject,
  writer: Writer,
): Written {
  const { resource, subresource, namespace, name } = target;
  if (subresource !== 'scale') checkKind(resource, apiVersionOf(resource), body);
  const isNew = subresource === '' && context.store.get(resource.storage, namespace, name) === null;
  if (isNew && CREATED_BY_PUT.includes(resource.kind)) {
    checkAddress(target, body);
    return { object: createObject(context, target, body, writer), isCreated: true };
  }
  const how = { edit: () => body, arrival: 'body' } as const;
  return { object: change(context, target, how, writer), isCreated: false };
}

/**
 * Applies a merge patch, a JSON patch, a strategic merge patch or an apply configuration. Throws 415 for any other
 * media type.
 */
export function patchObject(
  context: ApiContext,
  target: Addressed,
  patch: { readonly contentType: string; readonly body: string },
  writer: Writer,
): Written {
  const mediaType = patch.contentType.split(';')[0]?.trim() ?? '';
  if (mediaType === 'application/apply-patch+yaml' && target.subresource !== 'scale')
    return apply(context, target, parseBody(patch.body, mediaType), writer);
  const patcher = patcherOf(target, mediaType);
  const parsed = parsePatch(patch.body);
  const edit = (current: JsonObject): Json => patcher(current, parsed);
  return { object: change(context, target, { edit, arrival: 'patch' }, writer), isCreated: false };
}

function patcherOf(
  { resource, subresource }: Addressed,
  mediaType: string,
): (current: JsonObject, patch: Json) => Json {
  const isScale = subresource === 'scale';
  const type: Type | null = isScale ? scaleType : knownType(apiVersionOf(resource), resource.kind);
  const isStrategic = !resource.isCustom;
  switch (mediaType) {
    case 'application/merge-patch+json':
      return mergePatch;
    case 'application/json-patch+json':
      return jsonPatch;
    case 'application/strategic-merge-patch+json':
      if (isStrategic) return (current, patch) => strategicMergePatch(type ?? any, current, patch);
  }
  throw unsupportedMediaType([
    ...['application/json-patch+json', 'application/merge-patch+json'],
    ...(isStrategic ? ['application/strategic-merge-patch+json'] : []),
    ...(isScale ? [] : ['application/apply-patch+yaml']),
  ]);
}

function apply(context: ApiContext, target: Addressed, sent: JsonObject, writer: Writer): Written {
  const { resource, subresource, namespace, name } = target;
  const apiVersion = apiVersionOf(resource);
  checkConfiguration(resource, apiVersion, sent);
  const configuration = { ...sent, metadata: { name, ...objectAt(sent, 'metadata') } };
  checkAddress(target, configuration);
  const strict = { ...writer, isStrict: true };
  readObject(resource, configuration, { arrival: 'body', writer: strict });
  const current = context.store.get(resource.storage, namespace, name);
  const applied = applyConfiguration(
    { type: storedType(resource), apiVersion },
    current,
    configuration,
    writer,
  );
  if (current === null) {
    if (subresource !== '') throw notFound(nameOf(target));
    const creation = { ownerships: applied.ownerships };
    return { object: createObject(context, target, configuration, writer, creation), isCreated: true };
  }
  checkPreconditions(target, current, configuration);
  const read = readObject(resource, applied.object, { arrival: 'body', writer: {} });
  const admission = { writer, arrival: 'body', cel: context.cel } as const;
  const next = prepare(resource, merge(current, read, target), current, admission);
  const owned = withOwnerships(countGeneration(resource, current, next), applied.ownerships);
  const isSame = sameJson(withoutVersion(current), withoutVersion(owned));
  return { object: isSame ? current : keep(context, resource, owned, writer), isCreated: false };
}

interface Edit {
  readonly edit: (current: JsonObject) => Json;
  readonly arrival: Arrival;
}

function change(context: ApiContext, target: Addressed, how: Edit, writer: Writer): KubeObject {
  const { resource, subresource, namespace, name } = target;
  const current = context.store.get(resource.storage, namespace, name);
  if (subresource !== '' && !resource.subresources.some((known) => known === subresource))
    throw noSuchResource();
  if (current === null) throw notFound(nameOf(target));
  const isScale = subresource === 'scale';
  const wanted = how.edit(isScale ? scaleOf(current) : toWire(resource, current));
  if (!isObject(wanted)) throw badRequest('the object provided is unrecognized: it is no object');
  const next = isScale
    ? rescaled(target, current, wanted, { ...how, writer })
    : changed(target, current, wanted, { ...how, writer, cel: context.cel });
  const stored = sameJson(withoutVersion(current), withoutVersion(next))
    ? current
    : keep(
        context,
        resource,
        own(resource, current, countGeneration(resource, current, next), writer),
        writer,
      );
  return isScale ? scaleOf(stored) : stored;
}

function rescaled(
  target: Addressed,
  current: KubeObject,
  wanted: JsonObject,
  reading: { readonly arrival: Arrival; readonly writer: Writer },
): KubeObject {
  const read = readScale(wanted, reading);
  checkPreconditions(target, current, read);
  validateScale(read, target.name);
  return withScale(current, read);
}

function changed(target: Addressed, current: KubeObject, wanted: JsonObject, reading: Admission): KubeObject {
  const { resource } = target;
  const shown = toWire(resource, current);
  const { apiVersion, kind } = shown;
  const read = readObject(resource, { ...wanted, apiVersion, kind }, reading);
  if (reading.arrival === 'body') requireVersion(target, read);
  checkPreconditions(target, current, read);
  // A write without changes must not set defaults, because the simulated controllers store objects without defaults.
  if (sameJson(shown, wanted)) return current;
  return prepare(resource, merge(current, read, target), current, reading);
}

/**
 * Returns the object with the fields of `read` that a request to this path may change. Its identity stays. If the
 * resource has the subresource `status`, only requests to this subresource change the status.
 */
function merge(current: KubeObject, read: JsonObject, { resource, subresource }: Addressed): KubeObject {
  const shown = toWire(resource, current);
  if (subresource === 'status') return { ...shown, status: read['status'] };
  const { labels, annotations, ownerReferences, finalizers, managedFields } = objectAt(read, 'metadata');
  const metadata = {
    ...current.metadata,
    ...{ labels, annotations, ownerReferences, finalizers },
    managedFields: managedFields ?? current.metadata['managedFields'],
  };
  const next = asKubeObject({ ...read, apiVersion: shown.apiVersion, kind: shown.kind, metadata });
  return resource.subresources.includes('status') ? { ...next, status: shown['status'] } : next;
}

function countGeneration(resource: Resource, current: KubeObject, next: KubeObject): KubeObject {
  if (!resource.hasGeneration || sameJson(current['spec'], next['spec'])) return next;
  return withMetadata(next, { generation: (current.metadata.generation ?? 0) + 1 });
}

function withoutVersion(object: KubeObject): KubeObject {
  return withMetadata(object, { resourceVersion: '' });
}
