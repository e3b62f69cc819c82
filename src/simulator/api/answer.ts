import type { KubeObject } from '../objects/kube-object.js';
import { StatusError, makeStatus, methodNotAllowed, noSuchResource } from '../objects/status-error.js';
import { authenticate, reviewAccess, reviewRules, reviewToken, reviewUserAccess } from './requests/access.js';
import type { ApiParts, ApiRequest } from './exchange.js';
import type { Subject as FaultSubject } from './requests/faults.js';
import { type Reply, answerResource, type Sent } from './handle.js';
import { negotiate, type ResourceRequest, type ApiContext } from './requests/request.js';
import { RENDERINGS, includedObject } from './reads/render.js';
import { type Subject, accessOf, forbidden, isAllowed, type Rbac } from './requests/rules.js';
import type { WatchPeer } from './reads/watch.js';
import { type JsonObject, stringAt } from '../kinds/json.js';
import { discover, describeOpenApi } from './discovery.js';
import { parseBody } from './requests/parse-body.js';
import { decodeReview, decodeRulesReview } from './requests/protobuf.js';

/** Answers a request that is not a watch. Never throws: an error is returned as an answer with a Status. */
export function answerRequest(
  { context, rbac }: Pick<ApiParts, 'context' | 'rbac'>,
  request: ApiRequest,
): Reply {
  const { authorization, sent, parsed } = request;
  try {
    const probed = answerProbe(request);
    if (probed !== null) return probed;
    const subject = authenticate(rbac(), context.tokens, authorization);
    if (parsed === null) return answerOther(context, { subject, rbac: rbac() }, request);
    authorize(subject, parsed);
    return answerResource(context, parsed, sent);
  } catch (error) {
    return failure(error);
  }
}

/** Starts a watch, which sends its events to `peer`, and returns null. If the watch is rejected, returns the answer. */
export function openWatch(
  { context, rbac, watches }: Pick<ApiParts, 'context' | 'rbac' | 'watches'>,
  { authorization, sent }: Pick<ApiRequest, 'authorization' | 'sent'>,
  parsed: ResourceRequest,
  peer: WatchPeer,
): Reply | null {
  try {
    authorize(authenticate(rbac(), context.tokens, authorization), parsed);
    const { one } = RENDERINGS[negotiate(sent.accept)];
    const included = includedObject(parsed.query);
    const render = (object: KubeObject): string =>
      one(parsed.resource, object, { nowMs: context.clock.now(), included });
    watches.start(parsed, subjectOf(parsed, sent), peer, render);
    return null;
  } catch (error) {
    return failure(error);
  }
}

export function subjectOf(
  { verb, resource, subresource, namespace, name }: ResourceRequest,
  { userAgent }: ApiRequest['sent'],
): FaultSubject {
  return { verb, resource: resource.plural, subresource, namespace, name, userAgent };
}

function authorize(subject: Subject, parsed: ResourceRequest): void {
  const access = accessOf(parsed);
  if (!isAllowed(subject.rules, access)) throw forbidden(subject.user, access);
}

/** Answers 403, as a real server does until it has read its roles and bindings; 401 for an unknown token. */
export function forbidRequest(
  { context, rbac }: Pick<ApiParts, 'context' | 'rbac'>,
  { authorization, parsed }: Pick<ApiRequest, 'authorization' | 'parsed'>,
): Reply {
  try {
    const { user } = authenticate(rbac(), context.tokens, authorization);
    return failure(parsed === null ? noSuchResource() : forbidden(user, accessOf(parsed)));
  } catch (error) {
    return failure(error);
  }
}

function failure(error: unknown): Reply {
  if (error instanceof StatusError) return { code: error.code, body: JSON.stringify(error.status) };
  const message = `Internal error occurred: ${String(error)}`;
  return { code: 500, body: JSON.stringify(makeStatus({ code: 500, reason: 'InternalError', message })) };
}

const PROBES: readonly string[] = ['/healthz', '/livez', '/readyz'];
const REVIEWS = '/apis/authorization.k8s.io/v1/';
const ACCESS_REVIEWS = `${REVIEWS}subjectaccessreviews`;
const TOKEN_REVIEWS = '/apis/authentication.k8s.io/v1/tokenreviews';

/** Answers probes, which need no token; null: the path is not the path of a probe. */
function answerProbe({ address }: Pick<ApiRequest, 'address'>): Reply | null {
  const path = address.pathname.replace(/\/$/, '');
  return PROBES.includes(path) ? { code: 200, body: 'ok' } : null;
}

/**
 * An OpenAPI v2 document without definitions, as protobuf (field 1: `2.0`). kubectl requests it to apply a List.
 * kubectl validates only kinds that the document defines, so that it validates no kind.
 */
const OPENAPI_V2 = '\n\u00032.0';

/** Answers discovery and access reviews; any other path gets 404. Throws `StatusError`. */
function answerOther(
  context: ApiContext,
  { subject, rbac }: { readonly subject: Subject; readonly rbac: Rbac },
  { method, host, address, sent }: Pick<ApiRequest, 'method' | 'host' | 'address' | 'sent'>,
): Reply {
  const path = address.pathname.replace(/\/$/, '');
  if (path === '/openapi/v2') return { code: 200, body: OPENAPI_V2 };
  if (path === TOKEN_REVIEWS || path === ACCESS_REVIEWS) {
    if (method !== 'POST') throw methodNotAllowed();
    const review = parseBody(sent.body);
    const parts = { subject, rbac, issued: context.tokens };
    const answer = path === TOKEN_REVIEWS ? reviewToken(parts, review) : reviewUserAccess(parts, review);
    return { code: 201, body: JSON.stringify(answer) };
  }
  if (path.startsWith(REVIEWS)) return answerReview(subject, path.slice(REVIEWS.length), method, sent);
  const found =
    discover(context.catalog, path, context.advertisedAddress ?? host) ??
    describeOpenApi(context.catalog, path);
  if (found !== null) return { code: 200, body: JSON.stringify(found) };
  // As in the real server, the 404 has a Status only if the group of the path is served.
  if (isServed(context, path)) throw noSuchResource();
  return { code: 404, body: '404 page not found\n' };
}

function isServed({ catalog }: ApiContext, path: string): boolean {
  const [, root, ...rest] = path.split('/');
  const [group, version] = root === 'api' ? ['', rest[0]] : [rest[0], rest[1]];
  return (
    (root === 'api' || root === 'apis') &&
    catalog.resources.some((resource) => resource.group === group && resource.version === version)
  );
}

function answerReview(subject: Subject, review: string, method: string, sent: Sent): Reply {
  if (method !== 'POST') throw methodNotAllowed();
  const isProtobuf = sent.contentType.includes('protobuf');
  const bytes = Buffer.from(sent.body, 'latin1');
  const read = (decode: (bytes: Buffer) => JsonObject): JsonObject =>
    isProtobuf ? decode(bytes) : parseBody(sent.body);
  switch (review) {
    case 'selfsubjectaccessreviews':
      return { code: 201, body: JSON.stringify(reviewAccess(subject, read(decodeReview))) };
    case 'selfsubjectrulesreviews': {
      const namespace = stringAt(read(decodeRulesReview), 'spec', 'namespace') ?? '';
      return { code: 201, body: JSON.stringify(reviewRules(subject, namespace)) };
    }
    default:
      throw noSuchResource();
  }
}
