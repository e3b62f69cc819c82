import type { Pod } from '../../decision/snapshot/snapshot.js';
import type { Scaler } from '../../scaler/spec.js';
import type { Milli } from '../../units/quantity.js';
import { addSeconds } from '../../units/time.js';
import type { Instant } from '../../units/time.js';

/**
 * `parallel`: all pods are created at once. `ordered`: a pod is created after the previous one is ready, as in a
 * StatefulSet.
 */
export type PodOrder = 'parallel' | 'ordered';

/** The pods of a simulated workload. A pod is Pending until it is ready, and stays ready until it is removed. */
export interface Fleet {
  /** Oldest first. The list and its pods are replaced, never changed. */
  readonly pods: () => readonly Pod[];
  /** `.spec.replicas`. With `ordered`, there may be fewer pods. */
  readonly replicas: () => number;
  readonly readyCount: () => number;
  /** When the next pod becomes ready; null: all pods are ready. */
  readonly nextReadyAt: () => Instant | null;
  /** Marks pods as ready at the end of their start time. */
  readonly advanceTo: (now: Instant) => void;
  /** Creates pods, or removes pods in the order of a ReplicaSet: first those that are not ready, then the youngest. */
  readonly scaleTo: (replicas: number, now: Instant) => void;
}

/** Returns the default of the kind: `podManagementPolicy: OrderedReady` for a StatefulSet. */
export function podOrderOf({ spec }: Scaler): PodOrder {
  return spec.scaleTargetRef.kind === 'StatefulSet' ? 'ordered' : 'parallel';
}

/** With more pods, a decision takes so long that a back-test does not end. */
const MAX_PODS = 20_000;

/** The fleet would exceed `MAX_PODS`. */
export class FleetError extends Error {
  override name = 'FleetError';

  constructor(pods: number) {
    super(
      `${pods} pods, at most ${MAX_PODS} are simulated: check the capacity, the first replicas and maxReplicas`,
    );
  }
}

interface Starting {
  readonly readyAt: Instant;
  readonly name: string;
}

/** Older than any period in which the document treats a pod as new. */
const FIRST_PODS_AGE_SECONDS = 2 * 86_400;

/** Throws `FleetError`, also from `scaleTo`. */
export function createFleet(settings: {
  readonly replicas: number;
  readonly start: Instant;
  /** Seconds from the creation of a pod until it is ready. */
  readonly podStartSeconds: number;
  /** Milli-units by container and resource, the same for each pod. */
  readonly requests: ReadonlyMap<string, ReadonlyMap<string, Milli>>;
  /** Default: `parallel`. */
  readonly order?: PodOrder;
}): Fleet {
  const { podStartSeconds, requests, start, order = 'parallel' } = settings;
  if (settings.replicas > MAX_PODS) throw new FleetError(settings.replicas);
  const bornBefore = addSeconds(start, -FIRST_PODS_AGE_SECONDS);
  let created = 0;
  let wanted = settings.replicas;
  let pods: readonly Pod[] = [];
  /** In order of creation, which is also the order of readiness. */
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
    };
  };

  const add = (now: Instant): void => {
    const missing = wanted - pods.length;
    const isOneByOne = order === 'ordered' && podStartSeconds > 0;
    const count = isOneByOne ? Math.min(missing, 1 - starting.length) : missing;
    if (count <= 0) return;
    const readyAt = addSeconds(now, podStartSeconds);
    const added = Array.from({ length: count }, () => newPod(now, readyAt, now));
    pods = [...pods, ...added];
    if (podStartSeconds > 0) starting = [...starting, ...added.map(({ name }) => ({ readyAt, name }))];
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
      // Pods that are not ready are the youngest, so both rules remove pods from the end.
      pods = pods.slice(0, replicas);
      const kept = new Set(pods.map(({ name }) => name));
      starting = starting.filter(({ name }) => kept.has(name));
    },
  };
}
