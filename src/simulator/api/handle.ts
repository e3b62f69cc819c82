import { type JsonObject, listAt } from '../json.js';
import { reviewAccess } from './access.js';
import type { ApiContext } from './context.js';
import { discover } from './discovery.js';
import { getObject, listObjects } from './list.js';
import { type Writer, managerOf } from './managed-fields.js';
import type { KubeObject } from './objects.js';
import { deleteObject } from './remove.js';
import { describeOpenApi } from './openapi.js';
import { decodeNamespace, decodeReview } from './protobuf.js';
import type { ResourceRequest } from './request.js';
import { type Resource, apiVersionOf } from './resources.js';
import type { Subject } from './rules.js';
import { scaleOf } from './scale.js';
import { badRequest, methodNotAllowed, noSuchPath, notFound, unsupportedMediaType } from './status-error.js';
import { tableOf, wantsTable } from './table.js';
import { parseBody } from './validate.js';
import { type Target, createObject, patchObject, updateObject } from './write.js';
import { wireText } from './wire.js';

/** What is sent back. */
export interface Reply {
  readonly code: number;
  readonly body: string;
}

/** The parts of an HTTP request that matter beside its address. */
export interface Sent {
  /** As UTF-8; a protobuf body as Latin-1, a character a byte. */
  readonly body: string;
  readonly contentType: string;
  readonly accept: string;
  readonly userAgent: string;
}

const REVIEW_PATH = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

/** Answers what is no resource: discovery and access reviews; null where it is neither. */
export function answerOther(context: ApiContext, subject: Subject, address: URL, sent: Sent): Reply | null {
  if (address.pathname === REVIEW_PATH) {
    return { code: 201, body: JSON.stringify(reviewAccess(subject, parseReview(sent))) };
  }
  const path = address.pathname.replace(/\/$/, '');
  if (path === '/healthz' || path === '/livez' || path === '/readyz') return { code: 200, body: 'ok' };
  const found = discover(context.catalog, path) ?? describeOpenApi(context.catalog, path);
  return found === null ? null : { code: 200, body: JSON.stringify(found) };
}

function parseReview({ body, contentType }: Sent): JsonObject {
  return contentType.includes('protobuf') ? decodeReview(Buffer.from(body, 'latin1')) : parseBody(body);
}

/**
 * Protobuf is understood for access reviews and new namespaces only; `kubectl create deployment` sends it and cannot be
 * served.
 */
function readBody({ body, contentType }: Sent, kind?: string): JsonObject {
  if (!contentType.includes('protobuf')) return parseBody(body);
  if (kind !== 'Namespace') throw unsupportedMediaType(['application/json']);
  return decodeNamespace(Buffer.from(body, 'latin1'));
}

/** Carries out a request to a resource; a watch is not answered here. Throws `StatusError`. */
export function answerResource(context: ApiContext, request: ResourceRequest, sent: Sent): Reply {
  const { verb, resource } = request;
  switch (verb) {
    case 'get':
      return readOne(context, request, sent);
    case 'list':
      return readMany(context, request, sent);
    case 'create':
      if (request.name !== null) throw methodNotAllowed();
      return asReply(
        resource,
        createObject(context, request, readBody(sent, resource.kind), writerOf(context, request, sent)),
        201,
      );
    case 'update':
      return asReply(
        resource,
        updateObject(context, targetOf(request), readBody(sent), writerOf(context, request, sent)),
      );
    case 'patch':
      return asReply(
        resource,
        patchObject(context, targetOf(request), sent, writerOf(context, request, sent)),
      );
    case 'delete':
      return deleteOne(context, request, readBody(sent));
    case 'deletecollection':
      return deleteMany(context, request);
    case 'watch':
      throw badRequest('a watch is answered as a stream');
    default:
      return verb satisfies never;
  }
}

function writerOf(
  { clock }: ApiContext,
  { query, subresource }: ResourceRequest,
  { userAgent }: Sent,
): Writer {
  const isStrict = query.get('fieldValidation') === 'Strict';
  const isDryRun = query.get('dryRun') === 'All';
  return { manager: managerOf(query, userAgent), subresource, nowMs: clock.now(), isStrict, isDryRun };
}

function targetOf({ resource, subresource, namespace, name }: ResourceRequest): Target {
  if (name === null) throw methodNotAllowed();
  return { resource, subresource, namespace, name };
}

function asReply(resource: Resource, object: KubeObject, code = 200): Reply {
  return { code, body: object.kind === 'Scale' ? JSON.stringify(object) : wireText(resource, object) };
}

function readOne(context: ApiContext, request: ResourceRequest, sent: Sent): Reply {
  const { resource, subresource, name } = request;
  const object = getObject(context, request);
  if (subresource === 'scale' && resource.subresources.includes('scale'))
    return asReply(resource, scaleOf(object));
  if (subresource !== '' && subresource !== 'status') {
    throw resource.subresources.length === 0
      ? noSuchPath()
      : notFound({ resource: resource.plural, group: resource.group, name: name ?? '' });
  }
  if (!wantsTable(sent.accept)) return asReply(resource, object);
  return {
    code: 200,
    body: JSON.stringify(tableOf(resource, [object], { nowMs: context.clock.now(), metadata: {} })),
  };
}

function readMany(context: ApiContext, request: ResourceRequest, sent: Sent): Reply {
  const { resource } = request;
  const page = listObjects(context, request);
  const metadata: JsonObject = {
    resourceVersion: page.resourceVersion,
    continue: page.continueToken === '' ? undefined : page.continueToken,
    remainingItemCount: page.remainingItemCount ?? undefined,
  };
  if (wantsTable(sent.accept)) {
    return {
      code: 200,
      body: JSON.stringify(tableOf(resource, page.items, { nowMs: context.clock.now(), metadata })),
    };
  }
  const items = page.items.map((object) => wireText(resource, object)).join(',');
  const head = JSON.stringify({ kind: `${resource.kind}List`, apiVersion: apiVersionOf(resource), metadata });
  return { code: 200, body: `${head.slice(0, -1)},"items":[${items}]}` };
}

function deleteOne(context: ApiContext, request: ResourceRequest, options: JsonObject): Reply {
  const { resource, query } = request;
  const isDryRun = query.get('dryRun') === 'All' || listAt(options, 'dryRun').includes('All');
  return asReply(
    resource,
    isDryRun ? getObject(context, request) : deleteObject(context, targetOf(request), options),
  );
}

function deleteMany(context: ApiContext, request: ResourceRequest): Reply {
  const { resource } = request;
  const { items } = listObjects(context, request);
  const removed = items.map((object) =>
    deleteObject(
      context,
      { resource, subresource: '', namespace: object.metadata.namespace ?? null, name: object.metadata.name },
      {},
    ),
  );
  const list = {
    kind: `${resource.kind}List`,
    apiVersion: apiVersionOf(resource),
    metadata: {},
    items: removed,
  };
  return { code: 200, body: JSON.stringify({ ...list, items: listAt(list, 'items') }) };
}
