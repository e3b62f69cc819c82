import { type JsonObject, objectAt, stringAt } from '../../kinds/json.js';
import { type Rbac, type Subject, isAllowed, forbidden } from './rules.js';
import { unauthorized, StatusError } from '../../objects/status-error.js';

const ANYBODY: Subject = {
  user: 'simulator-admin',
  rules: [{ apiGroups: ['*'], resources: ['*', '*/scale', '*/status'], verbs: ['*'] }],
};

/**
 * Returns the subject of an `Authorization` header. Throws 401 for an unknown token. If `rbac` is empty, returns a
 * subject that may do everything.
 */
export function authenticate(
  rbac: Rbac,
  issued: ReadonlyMap<string, string>,
  authorization: string | undefined,
): Subject {
  if (Object.keys(rbac).length === 0) return ANYBODY;
  const token = /^Bearer (.+)$/i.exec(authorization ?? '')?.[1]?.trim() ?? '';
  const subject = Object.hasOwn(rbac, token) ? rbac[token] : undefined;
  if (subject !== undefined) return subject;
  const user = issued.get(token);
  if (user === undefined) throw unauthorized();
  return subjectNamed(rbac, user);
}

function subjectNamed(rbac: Rbac, user: string): Subject {
  return Object.values(rbac).find((one) => one.user === user) ?? { user, rules: [] };
}

/** Answers a SelfSubjectAccessReview (`kubectl auth can-i`). */
export function reviewAccess(subject: Subject, review: JsonObject): JsonObject {
  const asked = objectAt(review, 'spec', 'resourceAttributes');
  const allowed = isAllowed(subject.rules, {
    verb: stringAt(asked, 'verb') ?? '',
    group: stringAt(asked, 'group') ?? '',
    resource: stringAt(asked, 'resource') ?? '',
    subresource: stringAt(asked, 'subresource') ?? '',
    namespace: stringAt(asked, 'namespace') || null,
    name: stringAt(asked, 'name') || null,
  });
  return {
    kind: 'SelfSubjectAccessReview',
    apiVersion: 'authorization.k8s.io/v1',
    metadata: {},
    spec: { resourceAttributes: asked },
    status: { allowed },
  };
}

/** Answers a SelfSubjectRulesReview (`kubectl auth can-i --list`) for a namespace. */
export function reviewRules(subject: Subject, namespace: string): JsonObject {
  const rules = subject.rules.filter((rule) => rule.namespaces?.includes(namespace) ?? true);
  return {
    kind: 'SelfSubjectRulesReview',
    apiVersion: 'authorization.k8s.io/v1',
    metadata: {},
    spec: {},
    status: {
      resourceRules: rules.map(({ verbs, apiGroups, resources, resourceNames }) => ({
        verbs,
        apiGroups,
        resources,
        resourceNames,
      })),
      nonResourceRules: [],
      incomplete: false,
    },
  };
}

interface ReviewParts {
  /** The client that sends the review. */
  readonly subject: Subject;
  readonly rbac: Rbac;
  /** Maps a token to its user. */
  readonly issued: ReadonlyMap<string, string>;
}

/** Answers a TokenReview. As in the real server, the answer for an invalid token has an empty user and an error. */
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

/** Answers a SubjectAccessReview, which asks whether another user may do something. */
export function reviewUserAccess({ subject, rbac }: ReviewParts, review: JsonObject): JsonObject {
  authorize(subject, 'authorization.k8s.io', 'subjectaccessreviews');
  const user = stringAt(review, 'spec', 'user') ?? '';
  const isOpen = Object.keys(rbac).length === 0;
  const answer = reviewAccess(isOpen ? subject : subjectNamed(rbac, user), review);
  return { ...answer, kind: 'SubjectAccessReview', spec: objectAt(review, 'spec') };
}

function authorize(subject: Subject, group: string, resource: string): void {
  const access = { verb: 'create', group, resource, subresource: '', namespace: null, name: null };
  if (!isAllowed(subject.rules, access)) throw forbidden(subject.user, access);
}

export interface KubeconfigOptions {
  /** A bearer token of the simulator's RBAC rules. Default: the first one. */
  readonly token?: string;
  /** Namespace of the context; default `default`. */
  readonly namespace?: string;
  /** Whether the URL of the server contains the token: kubectl sends no credentials over plain HTTP. */
  readonly isForKubectl?: boolean;
}

const PREFIX = '/as/';

export function kubeconfigText(url: string, options: KubeconfigOptions): string {
  const { token, namespace = 'default', isForKubectl = false } = options;
  const user = token === undefined ? {} : { token };
  const server = isForKubectl && token !== undefined ? url + PREFIX + encodeURIComponent(token) : url;
  return JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'simulator',
      clusters: [{ name: 'simulator', cluster: { server } }],
      users: [{ name: 'simulator', user }],
      contexts: [{ name: 'simulator', context: { cluster: 'simulator', user: 'simulator', namespace } }],
    },
    null,
    2,
  );
}

/** Splits a path into the token that `kubeconfigText` has put at its start (null: there is none) and the rest. */
export function splitToken(path: string): { readonly token: string | null; readonly rest: string } {
  const end = path.startsWith(PREFIX) ? path.indexOf('/', PREFIX.length) : -1;
  if (end < 0) return { token: null, rest: path };
  return { token: decodeURIComponent(path.slice(PREFIX.length, end)), rest: path.slice(end) };
}
