import type { CostChange, CostedPod } from '../../kubernetes/pods/pod-costs.js';
import type { PodDeletionCost } from '../../scaler/spec.js';

/** More costs than this are not set for one scale-down: the pods that are left Kubernetes chooses by itself. */
export const MAX_COSTS = 100;

/**
 * The costs to set, the cheapest first, so that a scale-down to `to` takes those that the ranking puts first, and those
 * of ours to take away. Costs are from -100 to -1, and only as many pods get one as are to go: pods that go before all
 * others anyway (not ready, or with a cost below 0 that somebody else has set) are counted out. Pods with somebody
 * else's cost, or without a value, get none. Of equal values the pod that was started last goes first, as with
 * Kubernetes; where all pods have the same value, nobody gets a cost.
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
 * The costs of ours to take away where no scale-down of ours is on its way: none as long as there are more pods than
 * wanted, for then they have yet to be obeyed.
 */
export function planTidying(pods: readonly CostedPod[], specReplicas: number): readonly CostChange[] {
  return pods.filter(isLiving).length > specReplicas ? [] : withoutCost(pods).slice(0, MAX_COSTS);
}

/** A pod that its ReplicaSet counts. */
function isLiving({ pod: { deleting, phase } }: CostedPod): boolean {
  return !deleting && phase !== 'Succeeded' && phase !== 'Failed';
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
  // All go, or nobody that Kubernetes would not take by itself.
  if (to === 0 || count <= 0) return [];
  const ranked = others
    .filter(isFree)
    .flatMap((pod) => {
      const value = values.get(pod.pod.name);
      return value === undefined ? [] : [{ pod, value: order === 'ascending' ? value : -value }];
    })
    .sort((a, b) => compare(a.value, b.value) || compareAge(a.pod, b.pod));
  const saysNothing = ranked.length === others.length && ranked[0]?.value === ranked.at(-1)?.value;
  return saysNothing ? [] : ranked.slice(0, Math.min(count, MAX_COSTS)).map(({ pod }) => pod);
}

/** Whom the ReplicaSet controller takes before it looks at our costs. */
function goesFirst(pod: CostedPod): boolean {
  const { phase, ready } = pod.pod;
  return phase !== 'Running' || ready !== true || (!isFree(pod) && (pod.cost ?? 0) < 0);
}

/** Nobody else has said what this pod costs. */
function isFree({ cost, isOwn }: CostedPod): boolean {
  return cost === null || isOwn;
}

/** Not by subtraction: two infinite values are equal. */
function compare(a: number, b: number): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function compareAge(a: CostedPod, b: CostedPod): number {
  const [started, other] = [a.pod.startTime ?? -Infinity, b.pod.startTime ?? -Infinity];
  return compare(other, started) || (a.pod.name < b.pod.name ? -1 : 1);
}
