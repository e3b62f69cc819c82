import { addMilli } from '../../units/quantity.js';
import type { Milli } from '../../units/quantity.js';
import type { Pod } from '../snapshot/snapshot.js';

type PodRequests = { readonly requests: ReadonlyMap<string, Milli> } | { readonly error: string };

/**
 * Returns the requests for a resource by pod name, or an error. Every pod that the selector matches must have a
 * request, even an ignored pod, and so must each of its containers. If `container` is set, only the requests of that
 * container are used, not pod-level requests. The error first names the containers that a user must fix. Source:
 * replica_calculator.go, calculateRequests (algorithm.md, point 13).
 */
export function podRequests(pods: readonly Pod[], resource: string, container: string | null): PodRequests {
  const requests = new Map<string, Milli>();
  const missing: UnusableRequest[] = [];
  for (const pod of pods) {
    const answer = requestOf(pod, resource, container);
    if (typeof answer === 'bigint') requests.set(pod.name, answer);
    else missing.push(answer);
  }
  const [first] = missing;
  return first === undefined ? { requests } : { error: describeUnusable(first, missing, resource) };
}

/**
 * Returns the error for pods whose requests add up to 0. It has the form of the error about missing requests:
 * `container app requests 0 cpu (pod web-0 and 2 more)`.
 */
export function describeZeroRequests(
  pods: readonly Pod[],
  resource: string,
  container: string | null,
): string {
  const zero = pods.flatMap((pod): readonly UnusableRequest[] => {
    if (requestOf(pod, resource, container) !== 0n) return [];
    const containers = containersOfZero(pod, resource, container);
    return [{ pod: pod.name, kind: 'zero', containers }];
  });
  const [first] = zero;
  return first === undefined
    ? `the ${resource} requests of the pods add up to 0`
    : describeUnusable(first, zero, resource);
}

/**
 * Returns the containers whose request is 0; empty: the pod has a pod-level request, which replaces those of its
 * containers.
 */
export function containersOfZero(pod: Pod, resource: string, container: string | null): readonly string[] {
  if (container !== null) return [container];
  return pod.podRequests?.has(resource) === true ? [] : [...pod.requests.keys()];
}

interface UnusableRequest {
  readonly pod: string;
  readonly kind: 'no request' | 'no container' | 'zero';
  /** The containers with this request; empty: unknown, or it is the pod-level request. */
  readonly containers: readonly string[];
}

function requestOf(pod: Pod, resource: string, container: string | null): Milli | UnusableRequest {
  return container === null ? requestOfPod(pod, resource) : requestOfContainer(pod, resource, container);
}

function requestOfPod(pod: Pod, resource: string): Milli | UnusableRequest {
  const podLevel = pod.podRequests?.get(resource);
  if (podLevel !== undefined) return podLevel;
  if (pod.requests.size === 0) return { pod: pod.name, kind: 'no request', containers: [] };
  let total = 0n;
  for (const requests of pod.requests.values()) {
    const request = requests.get(resource);
    if (request === undefined) return withoutRequest(pod, resource);
    total = addMilli(total, request);
  }
  return total;
}

/** Returns which containers lack a request. For speed, this is computed only for a pod without a request. */
function withoutRequest(pod: Pod, resource: string): UnusableRequest {
  const lacking = [...pod.requests].filter(([, requests]) => !requests.has(resource));
  return { pod: pod.name, kind: 'no request', containers: lacking.map(([name]) => name) };
}

function requestOfContainer(pod: Pod, resource: string, container: string): Milli | UnusableRequest {
  const requests = pod.requests.get(container);
  const kind = requests === undefined ? 'no container' : 'no request';
  return requests?.get(resource) ?? { pod: pod.name, kind, containers: [container] };
}

/**
 * Returns the error for the first pod, with the number of other pods: `container app requests no cpu (pod web-0 and 2
 * more)`.
 */
function describeUnusable(
  { pod, kind, containers }: UnusableRequest,
  all: readonly UnusableRequest[],
  resource: string,
): string {
  const more = all.length === 1 ? '' : ` and ${all.length - 1} more`;
  if (kind === 'no container')
    return `pod ${pod}${more} ${more === '' ? 'has' : 'have'} no container ${containers.join(', ')}`;
  const amount = kind === 'zero' ? '0' : 'no';
  if (containers.length === 0)
    return `pod ${pod}${more} ${more === '' ? 'requests' : 'request'} ${amount} ${resource}`;
  const subject =
    containers.length === 1
      ? `container ${containers.join('')} requests`
      : `containers ${containers.slice(0, -1).join(', ')} and ${containers.slice(-1).join('')} request`;
  return `${subject} ${amount} ${resource} (pod ${pod}${more})`;
}
