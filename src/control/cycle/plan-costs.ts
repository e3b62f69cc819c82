import { isAlive } from '../../decision/snapshot/snapshot.js';
import type { CostChange, CostedPod } from '../../kubernetes/pods/pod-costs.js';
import type { PodDeletionCost } from '../../scaler/spec.js';

/** Limits the pods whose cost is set before a scale-down. Kubernetes chooses the other pods to delete. */
export const MAX_COSTS = 100;

/**
 * Returns the deletion costs to set and to remove before a scale-down to `to` replicas. Kubernetes first deletes pods
 * that are not ready or have a negative cost of another client. Only the further pods to delete need a cost. A pod
 * without a value, or with a cost of another client, gets no cost. Among equal values the youngest pod is first, as in
 * Kubernetes; if all values are equal, no pod gets a cost.
 */
export function planCosts(
  pods: readonly CostedPod[],
  ranking: {
    readonly to: number;
    readonly values: ReadonlyMap<string, number>;
    readonly order: PodDeletionCost['order'];
  },
): readonly CostChange[] {
  const chosen = choosePods(pods.filter(isLiving), ranking);
  const costs = new Map(chosen.map(({ pod }, index) => [pod.name, index - chosen.length]));
  const set = chosen.flatMap((pod) => {
    const cost = costs.get(pod.pod.name) ?? null;
    return pod.cost === cost ? [] : [{ pod, cost }];
  });
  return [...set, ...withoutCost(pods.filter(({ pod }) => !costs.has(pod.name)))];
}

/**
 * Returns the costs of promscaler that can be removed while it does not scale down. Empty while there are more pods
 * than replicas, because the ReplicaSet controller has not yet deleted the chosen pods.
 */
export function planRemovals(pods: readonly CostedPod[], specReplicas: number): readonly CostChange[] {
  return pods.filter(isLiving).length > specReplicas ? [] : withoutCost(pods).slice(0, MAX_COSTS);
}

function isLiving({ pod }: CostedPod): boolean {
  return isAlive(pod);
}

function withoutCost(pods: readonly CostedPod[]): readonly CostChange[] {
  return pods.filter((pod) => pod.isOwn && isLiving(pod)).map((pod) => ({ pod, cost: null }));
}

function choosePods(
  living: readonly CostedPod[],
  { to, values, order }: Parameters<typeof planCosts>[1],
): readonly CostedPod[] {
  const [first, others] = [living.filter(goesFirst), living.filter((pod) => !goesFirst(pod))];
  const count = living.length - to - first.length;
  // Costs have no effect if all pods are deleted, or only pods that Kubernetes deletes first anyway.
  if (to === 0 || count <= 0) return [];
  const ranked = others
    .filter(isFree)
    .flatMap((pod) => {
      const value = values.get(pod.pod.name);
      return value === undefined ? [] : [{ pod, value: order === 'ascending' ? value : -value }];
    })
    .sort((a, b) => compare(a.value, b.value) || compareAge(a.pod, b.pod));
  const allEqual = ranked.length === others.length && ranked[0]?.value === ranked.at(-1)?.value;
  return allEqual ? [] : ranked.slice(0, Math.min(count, MAX_COSTS)).map(({ pod }) => pod);
}

/** Returns whether the ReplicaSet controller deletes a pod before all pods that have a cost of promscaler. */
function goesFirst(pod: CostedPod): boolean {
  const { phase, ready } = pod.pod;
  return phase !== 'Running' || ready !== true || (!isFree(pod) && (pod.cost ?? 0) < 0);
}

function isFree({ cost, isOwn }: CostedPod): boolean {
  return cost === null || isOwn;
}

/** Not `a - b`, because that is NaN for two equal infinities. */
function compare(a: number, b: number): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function compareAge(a: CostedPod, b: CostedPod): number {
  const [started, other] = [a.pod.startTime ?? -Infinity, b.pod.startTime ?? -Infinity];
  return compare(other, started) || (a.pod.name < b.pod.name ? -1 : 1);
}
