import { type JsonObject, numberAt, objectAt } from '../../json/json.js';
import type { ApiContext } from '../objects/context.js';
import { makeUid, timestamp } from '../../objects/kube-object.js';
import { notFound } from '../../objects/status-error.js';

const LEAST_SECONDS = 600;
const DEFAULT_SECONDS = 3600;

/**
 * Answers a TokenRequest for a ServiceAccount. The token authenticates `system:serviceaccount:NAMESPACE:NAME` and has
 * the rules of the subject with that name.
 */
export function issueToken(
  { store, tokens, clock, random }: ApiContext,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  request: JsonObject,
): JsonObject {
  const account = store.get('/serviceaccounts', namespace, name);
  if (account === null) throw notFound({ resource: 'serviceaccounts', group: '', name });
  const token = `token-${makeUid(random)}`;
  tokens.set(token, `system:serviceaccount:${namespace}:${name}`);
  const seconds = Math.max(LEAST_SECONDS, numberAt(request, 'spec', 'expirationSeconds') ?? DEFAULT_SECONDS);
  return {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { name, namespace, uid: account.metadata.uid, creationTimestamp: timestamp(clock.now()) },
    spec: {
      audiences: ['https://kubernetes.default.svc'],
      boundObjectRef: null,
      ...objectAt(request, 'spec'),
      expirationSeconds: seconds,
    },
    status: { token, expirationTimestamp: timestamp(clock.now() + seconds * 1000) },
  };
}
