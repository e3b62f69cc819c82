import { type JsonObject, listAt } from '../kinds/json.js';
import { createObject, issueToken } from './writes/create.js';
import { getObject, listObjects } from './reads/list.js';
import { negotiate, readWriter, type ResourceRequest, type ApiContext } from './requests/request.js';
import type { KubeObject } from '../objects/kube-object.js';
import { parseBody } from './requests/parse-body.js';
import type { Addressed } from '../objects/preconditions.js';
import { decodeManifest } from './requests/protobuf.js';
import { deleteObject } from './writes/remove.js';
import { RENDERINGS, type Rendering, includedObject } from './reads/render.js';
import { scaleOf } from '../objects/wire.js';
import { badRequest, detailsOf, methodNotAllowed, noSuchResource } from '../objects/status-error.js';
import { type Written, patchObject, updateObject } from './writes/write.js';

export interface Reply {
  readonly code: number;
  readonly body: string;
  readonly warnings?: readonly string[];
}

export interface Sent {
  /** The body, decoded as UTF-8. A protobuf body is decoded as Latin-1, so that each character is a byte. */
  readonly body: string;
  readonly contentType: string;
  readonly accept: string;
  readonly userAgent: string;
}

/**
 * Kinds for which a deletion is always answered with the object. For other kinds, the answer is a Status, unless the
 * object still exists and only got a deletionTimestamp.
 */
const SHOWN_WHEN_DELETED: readonly string[] = ['Pod', 'Namespace', 'Service'];

function readBody({ body, contentType }: Sent): JsonObject {
  if (contentType.includes('protobuf')) return decodeManifest(Buffer.from(body, 'latin1'));
  return parseBody(body, contentType);
}

/** Answers a request for a resource. Throws `StatusError`, also for a watch. */
export function answerResource(context: ApiContext, request: ResourceRequest, sent: Sent): Reply {
  const { verb } = request;
  const form = negotiate(sent.accept);
  const rendering = {
    ...RENDERINGS[form],
    nowMs: context.clock.now(),
    included: includedObject(request.query),
  };
  if (request.subresource === 'token') return answerToken(context, request, sent);
  switch (verb) {
    case 'get':
      return readOne(context, request, rendering);
    case 'list':
      return readMany(context, request, rendering);
    case 'create': {
      if (request.name !== null) throw methodNotAllowed();
      const writer = readWriter(request, sent, context.clock.now());
      const object = createObject(context, request, readBody(sent), writer);
      const { body } = asReply(request, { object, isCreated: true }, rendering);
      return { code: 201, body, warnings: writer.warnings ?? [] };
    }
    case 'update':
    case 'patch': {
      const writer = readWriter(request, sent, context.clock.now());
      const target = addressOf(request);
      const written =
        verb === 'update'
          ? updateObject(context, target, readBody(sent), writer)
          : patchObject(context, target, sent, writer);
      return { ...asReply(request, written, rendering), warnings: writer.warnings ?? [] };
    }
    case 'delete':
      return deleteOne(context, request, readBody(sent), rendering);
    case 'deletecollection':
      return deleteMany(context, request, rendering);
    case 'watch':
      throw badRequest('a watch is answered as a stream');
    default:
      return verb satisfies never;
  }
}

function addressOf({ resource, subresource, namespace, name }: ResourceRequest): Addressed {
  if (name === null) throw methodNotAllowed();
  return { resource, subresource, namespace, name };
}

function answerToken(context: ApiContext, request: ResourceRequest, sent: Sent): Reply {
  const { resource, verb, namespace, name } = request;
  if (resource.kind !== 'ServiceAccount') throw noSuchResource();
  if (verb !== 'create' || namespace === null || name === null) throw methodNotAllowed();
  const answer = issueToken(context, { namespace, name }, readBody(sent));
  return { code: 201, body: JSON.stringify(answer) };
}

function asReply({ resource }: ResourceRequest, { object, isCreated }: Written, rendering: Rendering): Reply {
  const code = isCreated ? 201 : 200;
  if (object.kind === 'Scale') return { code, body: JSON.stringify(object) };
  return { code, body: rendering.one(resource, object, rendering) };
}

function readOne(context: ApiContext, request: ResourceRequest, rendering: Rendering): Reply {
  const { resource, subresource } = request;
  const isKnown = subresource === '' || resource.subresources.some((known) => known === subresource);
  if (!isKnown) throw noSuchResource();
  const object = getObject(context, request);
  const shown = subresource === 'scale' ? scaleOf(object) : object;
  return asReply(request, { object: shown, isCreated: false }, rendering);
}

function readMany(context: ApiContext, request: ResourceRequest, rendering: Rendering): Reply {
  const { items, metadata } = listObjects(context, request);
  return { code: 200, body: rendering.many(request.resource, items, { ...rendering, metadata }) };
}

function deleteOne(
  context: ApiContext,
  request: ResourceRequest,
  sent: JsonObject,
  rendering: Rendering,
): Reply {
  const { resource, query } = request;
  const grace = query.get('gracePeriodSeconds');
  const options = grace === null ? sent : { ...sent, gracePeriodSeconds: Number(grace) };
  const isDryRun = query.get('dryRun') === 'All' || listAt(options, 'dryRun').includes('All');
  const { object, isMarked } = deleteObject(context, addressOf(request), options, isDryRun);
  if (isMarked || SHOWN_WHEN_DELETED.includes(resource.kind))
    return asReply(request, { object, isCreated: false }, rendering);
  const { group, plural } = resource;
  const { name, uid } = object.metadata;
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { ...detailsOf({ resource: plural, group, name }), uid },
  };
  return { code: 200, body: JSON.stringify(status) };
}

function deleteMany(context: ApiContext, request: ResourceRequest, rendering: Rendering): Reply {
  const { resource } = request;
  const page = listObjects(context, request);
  const removed = page.items.map((object): KubeObject => {
    const { namespace = null, name } = object.metadata;
    return deleteObject(context, { resource, subresource: '', namespace, name }, {}).object;
  });
  const metadata = { resourceVersion: String(context.store.revision) };
  return { code: 200, body: rendering.many(resource, removed, { ...rendering, metadata }) };
}
