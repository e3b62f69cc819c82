import { objectIn, textIn } from './json.js';
import type { Transport } from './requests/transport.js';

/** One thing that an account may or may not do, in the words of RBAC. */
export interface AccessQuestion {
  readonly verb: string;
  /** Empty: the core group. */
  readonly group: string;
  /** Plural: `deployments`. */
  readonly resource: string;
  /** `scale`; empty: the object itself. */
  readonly subresource: string;
  /** Null: in all namespaces at once. */
  readonly namespace: string | null;
  /** Of one object, for rights on that alone; left out: on all of them. */
  readonly name?: string;
}

const DEADLINE_MS = 5000;

/**
 * Whether the account behind the transport may do it. Every account may ask this of itself. Throws `KubernetesError`.
 */
export async function mayI(
  transport: Transport,
  question: AccessQuestion,
  signal: AbortSignal,
): Promise<boolean> {
  const { verb, group, resource, subresource, namespace, name = '' } = question;
  const answer = await transport.request({
    lane: 'read',
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: {
        resourceAttributes: { verb, group, resource, subresource, namespace: namespace ?? '', name },
      },
    },
    doing: `asking whether ${nameAccess(question)} is allowed`,
    verb: 'create',
    resource: 'selfsubjectaccessreviews',
    deadlineMs: DEADLINE_MS,
    signal,
  });
  return objectIn(answer, 'status')?.['allowed'] === true;
}

/** Who the account is, where the server says so (Kubernetes 1.28 and newer); else null. Never throws. */
export async function whoAmI(transport: Transport, signal: AbortSignal): Promise<string | null> {
  try {
    const answer = await transport.request({
      lane: 'read',
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      doing: 'asking who this account is',
      verb: 'create',
      resource: 'selfsubjectreviews',
      deadlineMs: DEADLINE_MS,
      signal,
    });
    return textIn(objectIn(objectIn(answer, 'status'), 'userInfo'), 'username');
  } catch {
    // An older server, or one that is away: whoever asks has other findings to tell that by.
    return null;
  }
}

/** `patch deployments/scale in namespace shop`, `list pods in all namespaces`, `get configmaps x in namespace ops`. */
export function nameAccess(question: AccessQuestion): string {
  const { verb, group, resource, subresource, namespace, name } = question;
  const what = `${resource}${group === '' || group === 'apps' ? '' : `.${group}`}${subresource === '' ? '' : `/${subresource}`}`;
  return `${verb} ${what}${name === undefined ? '' : ` ${name}`} in ${namespace === null ? 'all namespaces' : `namespace ${namespace}`}`;
}
