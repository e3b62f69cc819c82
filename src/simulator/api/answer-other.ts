import { type JsonObject, stringAt } from '../json/json.js';
import { reviewAccess, reviewRules, reviewToken, reviewUserAccess } from './access/access.js';
import type { ApiContext } from './objects/context.js';
import { discover, describeOpenApi } from './discovery.js';
import type { ApiRequest } from './exchange.js';
import type { Reply, Sent } from './handle.js';
import { parseBody } from './requests/parse-body.js';
import { decodeReview, decodeRulesReview } from './requests/protobuf.js';
import type { Rbac, Subject } from './access/rules.js';
import { methodNotAllowed, noSuchResource } from '../objects/status-error.js';

const PROBES: readonly string[] = ['/healthz', '/livez', '/readyz'];
const REVIEWS = '/apis/authorization.k8s.io/v1/';
const ACCESS_REVIEWS = `${REVIEWS}subjectaccessreviews`;
const TOKEN_REVIEWS = '/apis/authentication.k8s.io/v1/tokenreviews';

/** Answers the probes, which need no token. Returns null for any other path. */
export function answerProbe({ address }: Pick<ApiRequest, 'address'>): Reply | null {
  const path = address.pathname.replace(/\/$/, '');
  return PROBES.includes(path) ? { code: 200, body: 'ok' } : null;
}

/** Answers discovery and access reviews, and 404 for any other path. Throws `StatusError`. */
export function answerOther(
  context: ApiContext,
  { subject, rbac }: { readonly subject: Subject; readonly rbac: Rbac },
  { method, host, address, sent }: Pick<ApiRequest, 'method' | 'host' | 'address' | 'sent'>,
): Reply {
  const path = address.pathname.replace(/\/$/, '');
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
  // The real server answers with a Status only below a group that it serves.
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
  let answer: JsonObject;
  switch (review) {
    case 'selfsubjectaccessreviews':
      answer = reviewAccess(subject, isProtobuf ? decodeReview(bytes) : parseBody(sent.body));
      break;
    case 'selfsubjectrulesreviews': {
      const asked = isProtobuf ? decodeRulesReview(bytes) : parseBody(sent.body);
      answer = reviewRules(subject, stringAt(asked, 'spec', 'namespace') ?? '');
      break;
    }
    default:
      throw noSuchResource();
  }
  return { code: 201, body: JSON.stringify(answer) };
}
