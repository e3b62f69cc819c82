import { objectIn, textIn, type JsonObject } from './api/json.js';
import { orNull } from './api/types.js';
import type { Transport } from './requests/transport.js';
import { asObject } from '../scaler/plain-json.js';

/** The `resourceAttributes` of a SelfSubjectAccessReview. */
export interface AccessQuestion {
  readonly verb: string;
  /** The API group; empty: the core group. */
  readonly group: string;
  readonly resource: string;
  /** A subresource such as `scale`; empty: the object itself. */
  readonly subresource: string;
  readonly namespace: string | null;
  /** The name of one object. Default: all objects. */
  readonly name?: string;
}

const DEADLINE_MS = 5000;

/**
 * Returns the permissions that the account of the transport does not have. Every account may create these reviews.
 * Throws `KubernetesError`.
 */
export async function findDenied(
  transport: Transport,
  questions: readonly AccessQuestion[],
  signal: AbortSignal,
): Promise<readonly AccessQuestion[]> {
  const allowed = await Promise.all(questions.map((question) => mayI(transport, question, signal)));
  return questions.filter((_, index) => allowed[index] === false);
}

async function mayI(transport: Transport, question: AccessQuestion, signal: AbortSignal): Promise<boolean> {
  const { verb, group, resource, subresource, namespace, name = '' } = question;
  const answer = await transport.request({
    lane: 'read',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: {
        resourceAttributes: { verb, group, resource, subresource, namespace: namespace ?? '', name },
      },
    },
    doing: `checking permission to ${nameAccess(question)}`,
    verb: 'create',
    resource: 'selfsubjectaccessreviews',
    deadlineMs: DEADLINE_MS,
    signal,
  });
  return objectIn(answer, 'status')?.['allowed'] === true;
}

/** Returns the user name of the account; null: the request failed, or the server is older than Kubernetes 1.28. */
export async function whoAmI(transport: Transport, signal: AbortSignal): Promise<string | null> {
  const answer = await orNull(() =>
    transport.request({
      lane: 'read',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      doing: 'reading the user name of this account',
      verb: 'create',
      resource: 'selfsubjectreviews',
      deadlineMs: DEADLINE_MS,
      signal,
    }),
  );
  return textIn(objectIn(objectIn(answer, 'status'), 'userInfo'), 'username');
}

/**
 * Returns a permission in words: `patch deployments/scale in namespace shop`, `list pods in all namespaces`, `get
 * configmaps x in namespace ops`.
 */
export function nameAccess(question: AccessQuestion): string {
  const { verb, group, resource, subresource, namespace, name } = question;
  const what = `${resource}${group === '' || group === 'apps' ? '' : `.${group}`}${subresource === '' ? '' : `/${subresource}`}`;
  return `${verb} ${what}${name === undefined ? '' : ` ${name}`} in ${namespace === null ? 'all namespaces' : `namespace ${namespace}`}`;
}

/** A user as a TokenReview returns it. */
export interface ReviewedUser {
  readonly username: string;
  /** `uid`, `groups` and `extra`, as the API server returned them. A SubjectAccessReview needs them. */
  readonly fields: JsonObject;
}

/** Authenticates and authorizes users of the HTTP API by requests to the API server. Throws `KubernetesError`. */
export interface UserReviews {
  /** Returns the user of a bearer token; null: the token is invalid. */
  readonly userOf: (token: string) => Promise<ReviewedUser | null>;
  /** Returns whether the user may get the scalers of a namespace; `namespace` null: of all namespaces. */
  readonly mayRead: (user: ReviewedUser, namespace: string | null) => Promise<boolean>;
  /** Reads a `ReviewedUser` from JSON; null: the JSON is invalid. */
  readonly readUser: (json: unknown) => ReviewedUser | null;
}

export function createUserReviews(transport: Pick<Transport, 'request'>): UserReviews {
  const create = (group: string, kind: string, spec: JsonObject, doing: string): Promise<JsonObject> => {
    const resource = `${kind.toLowerCase()}s`;
    return transport.request({
      lane: 'reviews',
      path: `/apis/${group}/v1/${resource}`,
      body: { apiVersion: `${group}/v1`, kind, spec },
      doing,
      verb: 'create',
      resource,
      deadlineMs: DEADLINE_MS,
    });
  };
  return {
    userOf: async (token) => {
      const review = await create(
        'authentication.k8s.io',
        'TokenReview',
        { token },
        'checking a bearer token',
      );
      const status = objectIn(review, 'status');
      const user = objectIn(status, 'user');
      const username = textIn(user, 'username');
      return status?.['authenticated'] === true ? readReviewed(username, user) : null;
    },
    readUser: (json) => {
      const user = asObject(json);
      return readReviewed(textIn(user, 'username'), objectIn(user, 'fields'));
    },
    mayRead: async ({ username, fields }, namespace) => {
      const resourceAttributes = {
        namespace: namespace ?? '',
        verb: 'get',
        group: 'promscaler.dev',
        resource: 'scalers',
      };
      const spec = { resourceAttributes, user: username, ...reviewFieldsOf(fields) };
      const doing = `checking permission of ${username} to get scalers in ${namespace === null ? 'all namespaces' : `namespace ${namespace}`}`;
      const review = await create('authorization.k8s.io', 'SubjectAccessReview', spec, doing);
      const status = objectIn(review, 'status');
      return status?.['allowed'] === true && status['denied'] !== true;
    },
  };
}

function readReviewed(username: string | null, user: JsonObject | null): ReviewedUser | null {
  if (username === null || username === '' || user === null) return null;
  return { username, fields: reviewFieldsOf(user) };
}

function reviewFieldsOf({ uid, groups, extra }: JsonObject): JsonObject {
  return {
    ...(typeof uid === 'string' ? { uid } : {}),
    ...(Array.isArray(groups) ? { groups: groups as readonly unknown[] } : {}),
    ...(asObject(extra) === null ? {} : { extra }),
  };
}
