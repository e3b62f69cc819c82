import { asObject } from '../scaler/plain-json.js';
import { objectIn, textIn, type JsonObject } from './api/json.js';
import type { Transport } from './requests/transport.js';

/** The `user` of a TokenReview. */
export interface ReviewedUser {
  readonly username: string;
  /** `uid`, `groups` and `extra` as the API server returned them. A SubjectAccessReview needs them. */
  readonly fields: JsonObject;
}

/** Reviews users of the HTTP API on the API server. Throws `KubernetesError`. */
export interface UserReviews {
  /** Returns the user of a bearer token; null: the token is invalid. */
  readonly userOf: (token: string) => Promise<ReviewedUser | null>;
  /** Returns whether the user may get scalers of a namespace; null: of all namespaces. */
  readonly mayRead: (user: ReviewedUser, namespace: string | null) => Promise<boolean>;
  /** Parses a `ReviewedUser` from JSON; null: the JSON is not a user. */
  readonly readUser: (json: unknown) => ReviewedUser | null;
}

const DEADLINE_MS = 5000;

export function createUserReviews(transport: Pick<Transport, 'request'>): UserReviews {
  const create = (group: string, kind: string, spec: JsonObject, doing: string): Promise<JsonObject> => {
    const resource = `${kind.toLowerCase()}s`;
    return transport.request({
      lane: 'reviews',
      method: 'POST',
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
