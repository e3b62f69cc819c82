import { type JsonObject, objectAt, stringAt } from '../../json/json.js';
import { StatusError } from '../../objects/status-error.js';
import { authenticate, reviewAccess } from './access.js';
import { type Rbac, type Subject, forbidden, isAllowed } from './rules.js';

export interface ReviewParts {
  /** The client that sends the review. */
  readonly subject: Subject;
  readonly rbac: Rbac;
  /** Token -> user. */
  readonly issued: ReadonlyMap<string, string>;
}

/** Answers a TokenReview. An invalid token has an empty user and an error, as on the real server. */
export function reviewToken(parts: ReviewParts, review: JsonObject): JsonObject {
  authorize(parts.subject, 'authentication.k8s.io', 'tokenreviews');
  const token = stringAt(review, 'spec', 'token') ?? '';
  return {
    kind: 'TokenReview',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: {},
    spec: { token },
    status: statusOf(parts, token),
  };
}

function statusOf({ rbac, issued }: ReviewParts, token: string): JsonObject {
  try {
    const { user } = authenticate(rbac, issued, `Bearer ${token}`);
    return { authenticated: true, user: { username: user, groups: ['system:authenticated'] } };
  } catch (error) {
    if (error instanceof StatusError) return { user: {}, error: 'invalid bearer token' };
    throw error;
  }
}

/** Answers a SubjectAccessReview: what another user may do. */
export function reviewUserAccess({ subject, rbac }: ReviewParts, review: JsonObject): JsonObject {
  authorize(subject, 'authorization.k8s.io', 'subjectaccessreviews');
  const user = stringAt(review, 'spec', 'user') ?? '';
  const isOpen = Object.keys(rbac).length === 0;
  const known = isOpen ? subject : Object.values(rbac).find((one) => one.user === user);
  const answer = reviewAccess(known ?? { user, rules: [] }, review);
  return { ...answer, kind: 'SubjectAccessReview', spec: objectAt(review, 'spec') };
}

function authorize(subject: Subject, group: string, resource: string): void {
  const access = { verb: 'create', group, resource, subresource: '', namespace: null, name: null };
  if (!isAllowed(subject.rules, access)) throw forbidden(subject.user, access);
}
