import { addMilli } from '../../units/quantity.js';
import type { Milli } from '../../units/quantity.js';
import type { Pod } from '../snapshot.js';

export type PodRequests = { readonly requests: ReadonlyMap<string, Milli> } | { readonly error: string };

/**
 * What each pod requests of a resource, by pod name, or why that can't be told: every pod the selector matches must
 * have a request, even one that is ignored, and so must every container in it. With `container` only that one counts,
 * and pod-level requests don't. Source: replica_calculator.go, calculateRequests (algorithm.md, point 13).
 */
export function podRequests(pods: readonly Pod[], resource: string, container: string | null): PodRequests {
  const requests = new Map<string, Milli>();
  for (const pod of pods) {
    const request =
      container === null ? requestOfPod(pod, resource) : requestOfContainer(pod, resource, container);
    if (typeof request === 'string') return { error: request };
    requests.set(pod.name, request);
  }
  return { requests };
}

function requestOfPod(pod: Pod, resource: string): Milli | string {
  const podLevel = pod.podRequests?.get(resource);
  if (podLevel !== undefined) return podLevel;
  if (pod.requests.size === 0) return `pod ${pod.name} requests no ${resource}`;
  let total = 0n;
  for (const container of pod.requests.keys()) {
    const request = requestOfContainer(pod, resource, container);
    if (typeof request === 'string') return request;
    total = addMilli(total, request);
  }
  return total;
}

function requestOfContainer(pod: Pod, resource: string, container: string): Milli | string {
  const containerRequests = pod.requests.get(container);
  if (containerRequests === undefined) return `pod ${pod.name} has no container ${container}`;
  return (
    containerRequests.get(resource) ?? `container ${container} of pod ${pod.name} requests no ${resource}`
  );
}
