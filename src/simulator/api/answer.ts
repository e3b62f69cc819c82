import type { KubeObject } from '../objects/kube-object.js';
import { StatusError, makeStatus } from '../objects/status-error.js';
import { authenticate } from './access/access.js';
import { answerOther, answerProbe } from './answer-other.js';
import type { ApiParts, ApiRequest } from './exchange.js';
import type { Subject as FaultSubject } from './requests/faults.js';
import { type Reply, answerResource } from './handle.js';
import { negotiate } from './requests/options.js';
import { RENDERINGS, includedObject } from './reads/render.js';
import type { ResourceRequest } from './requests/request.js';
import { type Subject, accessOf, forbidden, isAllowed } from './access/rules.js';
import type { WatchPeer } from './reads/watch.js';

/** Carries out any request except a watch. Returns errors as an answer with a Status. */
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

/** Starts a watch that sends its events to `peer`. Returns null, or the answer if the watch is refused. */
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

function failure(error: unknown): Reply {
  if (error instanceof StatusError) return { code: error.code, body: JSON.stringify(error.status) };
  const message = `Internal error occurred: ${String(error)}`;
  return { code: 500, body: JSON.stringify(makeStatus({ code: 500, reason: 'InternalError', message })) };
}
