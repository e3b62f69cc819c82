import type { Pod } from '../../decision/snapshot/snapshot.js';
import type { Scaler } from '../../scaler/spec.js';
import type { Milli } from '../../units/quantity.js';
import { addSeconds, type Instant, latest, secondsBetween } from '../../units/time.js';
import type { NodeStart, PodStart } from './settings.js';
import { countOf } from '../../units/format.js';

/** `parallel`: all pods are created at once. `ordered`: each pod is created when the previous pod is ready. */
export type PodOrder = 'parallel' | 'ordered';

/** The pods of a simulated workload. A pod is Pending until it is ready, and stays ready until it is removed. */
export interface Fleet {
  /** The pods, the oldest first. A change creates a new list and new pods; existing pods are never changed. */
  readonly pods: () => readonly Pod[];
  /** The value of `.spec.replicas`. If `ordered`, there may be fewer pods. */
  readonly replicas: () => number;
  readonly readyCount: () => number;
  /** Returns when the next pod becomes ready; null: all pods are ready. */
  readonly nextReadyAt: () => Instant | null;
  /** Marks pods as ready whose start time has passed. */
  readonly advanceTo: (now: Instant) => void;
  /**
   * Creates or removes pods. As in a ReplicaSet, pods that are not ready are removed first, then those that became
   * ready last.
   */
  readonly scaleTo: (replicas: number, now: Instant) => void;
}

/** Returns the default order of the kind: `ordered` for a StatefulSet (`podManagementPolicy: OrderedReady`). */
export function podOrderOf({ spec }: Scaler): PodOrder {
  return spec.scaleTargetRef.kind === 'StatefulSet' ? 'ordered' : 'parallel';
}

/** Limits the pods: with more, each decision takes so long that a back-test practically never ends. */
const MAX_PODS = 20_000;

/** Thrown if a fleet would exceed `MAX_PODS`. */
export class FleetError extends Error {
  override name = 'FleetError';

  constructor(pods: number) {
    super(
      `the simulation needs ${countOf(pods, 'pod')}, must need at most ${MAX_PODS}: check the capacity, the initial replicas and maxReplicas`,
    );
  }
}

interface Starting {
  readonly readyAt: Instant;
  readonly name: string;
}

/** Age of the first pods, so that no document treats them as new. */
const FIRST_PODS_AGE_SECONDS = 2 * 86_400;

/** Creates a fleet. This and `scaleTo` throw `FleetError` for more than `MAX_PODS` pods. */
export function createFleet(settings: {
  readonly replicas: number;
  readonly start: Instant;
  readonly podStart: PodStart;
  /** The requests of each pod in milli-units, by container and resource. */
  readonly requests: ReadonlyMap<string, ReadonlyMap<string, Milli>>;
  /** The CPU limit of each pod. Default: none. */
  readonly cpuLimit?: Milli | undefined;
  /** Default: `parallel`. */
  readonly order?: PodOrder;
}): Fleet {
  const { podStart, requests, start, cpuLimit, order = 'parallel' } = settings;
  if (settings.replicas > MAX_PODS) throw new FleetError(settings.replicas);
  const bornBefore = addSeconds(start, -FIRST_PODS_AGE_SECONDS);
  const nodes = podStart.node === null ? null : createNodes(podStart.node, settings.replicas, bornBefore);
  let created = 0;
  let wanted = settings.replicas;
  let pods: readonly Pod[] = [];
  /** The pods that are not ready yet, in the order in which they become ready. */
  let starting: readonly Starting[] = [];

  const newPod = (startTime: Instant, readyAt: Instant, now: Instant): Pod => {
    created += 1;
    const isReady = readyAt <= now;
    return {
      name: `pod-${created}`,
      phase: isReady ? 'Running' : 'Pending',
      deleting: false,
      startTime,
      ready: isReady,
      readyChangedAt: isReady ? readyAt : startTime,
      requests,
      podRequests: null,
      ...(cpuLimit === undefined ? {} : { cpuLimit }),
    };
  };

  const add = (now: Instant): void => {
    const missing = wanted - pods.length;
    const isOneByOne = order === 'ordered' && podStart.medianSeconds > 0;
    const count = isOneByOne ? Math.min(missing, 1 - starting.length) : missing;
    if (count <= 0) return;
    const first = pods.length;
    const added = Array.from({ length: count }, (_, index) => {
      const from = nodes?.roomFor(first + index, now) ?? now;
      const readyAt = addSeconds(from, startSeconds(podStart, created + 1));
      return { pod: newPod(now, readyAt, now), readyAt };
    });
    pods = [...pods, ...added.map(({ pod }) => pod)];
    const notReady = added.filter(({ pod }) => pod.ready !== true);
    if (notReady.length > 0)
      starting = [...starting, ...notReady.map(({ pod, readyAt }) => ({ readyAt, name: pod.name }))].sort(
        (one, other) => one.readyAt - other.readyAt,
      );
  };

  const finish = (readyAt: Instant): void => {
    const due = new Set(starting.filter((pod) => pod.readyAt <= readyAt).map(({ name }) => name));
    starting = starting.slice(due.size);
    pods = pods.map((pod) =>
      due.has(pod.name) ? { ...pod, phase: 'Running' as const, ready: true, readyChangedAt: readyAt } : pod,
    );
    add(readyAt);
  };

  pods = Array.from({ length: settings.replicas }, () => newPod(bornBefore, bornBefore, start));
  return {
    pods: () => pods,
    replicas: () => wanted,
    readyCount: () => pods.length - starting.length,
    nextReadyAt: () => starting[0]?.readyAt ?? null,
    advanceTo: (now) => {
      for (let first = starting[0]; first !== undefined && first.readyAt <= now; first = starting[0])
        finish(first.readyAt);
    },
    scaleTo: (replicas, now) => {
      if (replicas > MAX_PODS) throw new FleetError(replicas);
      wanted = replicas;
      if (replicas > pods.length) {
        add(now);
        return;
      }
      const kept = keptPods(pods, replicas);
      pods = pods.filter(({ name }) => kept.has(name));
      starting = starting.filter(({ name }) => kept.has(name));
      nodes?.release(pods.length, now);
    },
  };
}

/** Returns the names of the pods that a scale-down keeps. */
function keptPods(pods: readonly Pod[], replicas: number): ReadonlySet<string> {
  const readySince = ({ ready, readyChangedAt }: Pod): number =>
    ready === true ? (readyChangedAt ?? 0) : Infinity;
  // The sort is stable: pods with the same time stay in order, the youngest one last.
  const ranked = pods.toSorted((one, other) => {
    const [a, b] = [readySince(one), readySince(other)];
    return a === b ? 0 : a - b;
  });
  return new Set(ranked.slice(0, replicas).map(({ name }) => name));
}

/**
 * Returns the start time of the pod with this number, in seconds. It is the same in each run, so that documents are
 * compared under the same conditions.
 */
function startSeconds({ medianSeconds, p95Seconds }: PodStart, number: number): number {
  if (p95Seconds === medianSeconds) return medianSeconds;
  const spread = Math.log(p95Seconds / medianSeconds) / Z_OF_95;
  const seconds = medianSeconds * Math.exp(spread * Math.min(MOST_Z, normal(number)));
  return Math.round(seconds * 1000) / 1000;
}

/** The 95th percentile of the standard normal distribution. */
const Z_OF_95 = 1.6449;
/** Limits start times to 3 standard deviations, which 1 pod in 740 would exceed. */
const MOST_Z = 3;

/** Returns a number from the standard normal distribution that depends only on the seed (Box-Muller method). */
function normal(number: number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - uniform(2 * number)));
  return radius * Math.cos(2 * Math.PI * uniform(2 * number + 1));
}

/** Returns a number from 0 to below 1 that depends only on the seed (mulberry32). */
function uniform(seed: number): number {
  let mixed = Math.imul(seed, 0x6d2b79f5) + 0x6d2b79f5;
  mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}

/**
 * How long a node exists after it has become empty: the default of `--scale-down-unneeded-time` of the cluster
 * autoscaler.
 */
const EMPTY_NODE_SECONDS = 600;

interface Nodes {
  /** Returns when the pod with this index can start. If no node has room, creates one. */
  readonly roomFor: (index: number, now: Instant) => Instant;
  /** Records the number of pods. A node without pods is removed `EMPTY_NODE_SECONDS` later. */
  readonly release: (pods: number, now: Instant) => void;
}

/** Creates the nodes of a fleet. Pods fill one node after another. */
function createNodes({ seconds, pods: each }: NodeStart, replicas: number, since: Instant): Nodes {
  const nodes: { readonly readyAt: Instant; emptySince: Instant | null }[] = Array.from(
    { length: Math.ceil(replicas / each) },
    () => ({ readyAt: since, emptySince: null }),
  );
  const removeEmpty = (now: Instant): void => {
    const isKept = ({ emptySince }: (typeof nodes)[number]): boolean =>
      emptySince === null || secondsBetween(emptySince, now) < EMPTY_NODE_SECONDS;
    nodes.length = nodes.findLastIndex(isKept) + 1;
  };
  return {
    roomFor: (index, now) => {
      removeEmpty(now);
      const number = Math.floor(index / each);
      const node = nodes[number] ?? { readyAt: addSeconds(now, seconds), emptySince: null };
      node.emptySince = null;
      nodes[number] = node;
      return latest(node.readyAt, now);
    },
    release: (pods, now) => {
      nodes.forEach((node, number) => {
        node.emptySince = number * each < pods ? null : (node.emptySince ?? now);
      });
    },
  };
}
