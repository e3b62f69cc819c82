import { addSeconds, type Instant } from '../../units/time.js';
import { type Milli, sumMilli } from '../../units/quantity.js';
import type { PodGroups } from '../result/decision.js';
import type { Pod } from '../snapshot/snapshot.js';
import { podRequests } from './pod-requests.js';

/**
 * Facts about a list of pods that are all running and ready, which is the usual case. Once the youngest pod is old
 * enough, every pod with a sample is in the group `ready`.
 */
export interface SettledPods {
  readonly groups: PodGroups;
  readonly youngestStart: Instant;
  /**
   * Returns the sum of the requests for a resource; null: a pod has no request. If `container` is null, the sum
   * includes all containers.
   */
  readonly requested: (resource: string, container: string | null) => Milli | null;
}

/** A list of pods with facts that are computed from it once and kept between decisions. */
export class PodFacts<P extends Pod = Pod> {
  readonly pods: readonly P[];
  #settled: SettledPods | null | undefined;

  constructor(pods: readonly P[]) {
    this.pods = pods;
  }

  /** The facts; null: a pod is not running or not ready, or the list is empty. */
  get settled(): SettledPods | null {
    if (this.#settled === undefined) this.#settled = settle(this.pods);
    return this.#settled;
  }
}

/** Returns whether the youngest pod started at least `seconds` ago. */
export function hasSettled({ youngestStart }: SettledPods, seconds: number, now: Instant): boolean {
  return addSeconds(youngestStart, seconds) <= now;
}

function settle(pods: readonly Pod[]): SettledPods | null {
  const names = new Set<string>();
  let youngestStart: Instant | null = null;
  for (const { name, phase, deleting, ready, startTime } of pods) {
    if (deleting || phase !== 'Running' || ready !== true || startTime === null) return null;
    if (youngestStart === null || startTime > youngestStart) youngestStart = startTime;
    names.add(name);
  }
  // Samples are identified by pod name: if two pods had the same name, the groups would include one sample twice.
  if (youngestStart === null || names.size < pods.length) return null;
  return {
    groups: { ready: [...names], unready: [], missing: [], ignored: [] },
    youngestStart,
    requested: rememberRequests(pods),
  };
}

function rememberRequests(pods: readonly Pod[]): SettledPods['requested'] {
  const sums = new Map<string, Milli | null>();
  return (resource, container) => {
    const key = container === null ? resource : `${resource}\n${container}`;
    const before = sums.get(key);
    if (before !== undefined) return before;
    const answer = podRequests(pods, resource, container);
    const sum = 'error' in answer ? null : sumMilli(answer.requests.values());
    sums.set(key, sum);
    return sum;
  };
}
