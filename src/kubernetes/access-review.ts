import { objectIn, textIn } from './api/json.js';
import { KubernetesError } from './api/types.js';
import type { Transport } from './requests/transport.js';

/** The `resourceAttributes` of a SelfSubjectAccessReview. */
export interface AccessQuestion {
  readonly verb: string;
  /** Empty: the core API group. */
  readonly group: string;
  readonly resource: string;
  /** A subresource such as `scale`; empty: the object itself. */
  readonly subresource: string;
  readonly namespace: string | null;
  /** Name of one object; default: all objects. */
  readonly name?: string;
}

const DEADLINE_MS = 5000;

/**
 * Returns the denied questions for the account of the transport. Every account may create these reviews. Throws
 * `KubernetesError`.
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
    method: 'POST',
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

/** Returns the user name of the account. Null after a failure, and before Kubernetes 1.28. */
export async function whoAmI(transport: Transport, signal: AbortSignal): Promise<string | null> {
  try {
    const answer = await transport.request({
      lane: 'read',
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      doing: 'reading the user name of this account',
      verb: 'create',
      resource: 'selfsubjectreviews',
      deadlineMs: DEADLINE_MS,
      signal,
    });
    return textIn(objectIn(objectIn(answer, 'status'), 'userInfo'), 'username');
  } catch (error) {
    // If the server is unreachable, other requests report that.
    if (!(error instanceof KubernetesError)) throw error;
    return null;
  }
}

/**
 * Returns a string such as `patch deployments/scale in namespace shop`, `list pods in all namespaces` or `get configmaps
 * x in namespace ops`.
 */
export function nameAccess(question: AccessQuestion): string {
  const { verb, group, resource, subresource, namespace, name } = question;
  const what = `${resource}${group === '' || group === 'apps' ? '' : `.${group}`}${subresource === '' ? '' : `/${subresource}`}`;
  return `${verb} ${what}${name === undefined ? '' : ` ${name}`} in ${namespace === null ? 'all namespaces' : `namespace ${namespace}`}`;
}
