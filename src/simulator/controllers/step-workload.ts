import { type Instant, instantFromMs } from '../../units/time.js';
import { generatedName, type Random } from '../objects/names.js';

/** The durations of the phases of a pod. Infinity: the phase never ends. */
export interface PodTiming {
  /** Seconds from the creation to the start of the containers. */
  readonly startSeconds: number;
  /** Seconds from the start of the containers until the pod is ready. */
  readonly readySeconds: number;
  /** Seconds from the deletion until the pod is removed. */
  readonly terminationSeconds: number;
  /** Each duration is multiplied by a random factor from 1 to 1 + this ratio. */
  readonly jitterRatio: number;
}

export interface WorkloadSpec {
  readonly name: string;
  /**
   * `rolling`: pods have random names, and a rolling update creates new pods first (`maxSurge`). `ordered`: pods are
   * named `NAME-0`, `NAME-1` and so on, and are replaced one by one.
   */
  readonly order: 'rolling' | 'ordered';
  readonly replicas: number;
  /** Hash of the pod template. If `isRevisionNamed`, the names of pods contain it. */
  readonly revision: string;
  readonly isRevisionNamed: boolean;
  /** A number of pods, like `maxUnavailable`. Percentages are already resolved. */
  readonly maxSurge: number;
  readonly maxUnavailable: number;
  readonly isPaused: boolean;
  readonly timing: PodTiming;
}

export type Pods = readonly PodState[];

/**
 * Maximum number of passes of a step. Each pass creates or deletes pods, which may allow more changes in the next pass.
 */
const MOST_PASSES = 100;

/** Creates, deletes and removes pods like the controllers of Kubernetes. The result depends only on the arguments. */
export function stepWorkload(spec: WorkloadSpec, before: Pods, now: Instant, random: Random): Pods {
  const step = spec.order === 'ordered' ? stepOrdered : stepRolling;
  let pods = before.filter((pod) => phaseOf(pod, now) !== 'gone');
  for (let pass = 0; pass < MOST_PASSES; pass += 1) {
    const next = step(spec, pods, now, random);
    const isSettled = next.length === pods.length && next.every((pod, i) => pod === pods[i]);
    pods = next;
    if (isSettled) break;
  }
  return pods;
}

/** Returns when the first pod reaches its next phase; Infinity: no pod will. */
export function nextChangeAt(pods: Pods, now: Instant): number {
  return Math.min(Number.POSITIVE_INFINITY, ...pods.map((pod) => nextPhaseAt(pod, now)));
}

export function settledPods(spec: WorkloadSpec, now: Instant, ageSeconds: number, random: Random): Pods {
  const createdAt = instantFromMs(now - ageSeconds * 1000);
  const age = { startsAt: createdAt, readyAt: createdAt };
  return Array.from({ length: spec.replicas }, (_, ordinal) => ({
    ...makePod(spec, { now: createdAt, ordinal }, random),
    ...age,
  }));
}

/** Returns the pod as terminating since `now`. A pod that is already terminating is returned unchanged. */
export function endPod(pod: PodState, now: Instant, timing: PodTiming, random: Random): PodState {
  if (pod.deletedAt !== null) return pod;
  return { ...pod, deletedAt: now, goneAt: now + delayMs(timing.terminationSeconds, timing, random) };
}

function delayMs(seconds: number, { jitterRatio }: PodTiming, random: Random): number {
  return seconds * 1000 * (jitterRatio === 0 ? 1 : 1 + jitterRatio * random());
}

function makePod(
  spec: WorkloadSpec,
  { now, ordinal }: { readonly now: Instant; readonly ordinal: number },
  random: Random,
): PodState {
  const { timing, name, revision } = spec;
  const startsAt = now + delayMs(timing.startSeconds, timing, random);
  const stem = spec.isRevisionNamed ? `${name}-${revision}` : name;
  return {
    name: spec.order === 'ordered' ? `${name}-${ordinal}` : generatedName(`${stem}-`, random),
    revision,
    ordinal,
    createdAt: now,
    startsAt,
    readyAt: startsAt + delayMs(timing.readySeconds, timing, random),
    deletedAt: null,
    goneAt: Number.POSITIVE_INFINITY,
    isBroken: false,
    deletionCost: 0,
  };
}

/**
 * Steps like the Deployment controller. During a rollout, it creates pods up to `replicas + maxSurge`, and deletes old
 * ready pods down to `replicas - maxUnavailable` ready pods.
 */
function stepRolling(spec: WorkloadSpec, present: Pods, now: Instant, random: Random): PodState[] {
  const living = present.filter((pod) => pod.deletedAt === null);
  const isCurrent = (pod: PodState): boolean => pod.revision === spec.revision;
  const current = living.filter(isCurrent);
  const old = living.filter((pod) => !isCurrent(pod));
  const isRolling = old.length > 0 && !spec.isPaused;
  const creatable = spec.replicas + (isRolling ? spec.maxSurge : 0) - living.length;
  const wanted = spec.replicas - (spec.isPaused ? living.length : current.length);
  const added = Array.from({ length: Math.max(0, Math.min(creatable, wanted)) }, () =>
    makePod(spec, { now, ordinal: 0 }, random),
  );
  const surplus = new Set(
    isRolling
      ? endedByRollout(spec, { current, old }, now)
      : firstToEnd(living, now, living.length - spec.replicas),
  );
  return [
    ...present.map((pod) => (surplus.has(pod) ? endPod(pod, now, spec.timing, random) : pod)),
    ...added,
  ];
}

function endedByRollout(
  spec: WorkloadSpec,
  { current, old }: { readonly current: Pods; readonly old: Pods },
  now: Instant,
): Pods {
  const isReady = (pod: PodState): boolean => phaseOf(pod, now) === 'ready';
  const leastReady = spec.replicas - spec.maxUnavailable;
  const tooMany = firstToEnd(current, now, current.length - spec.replicas);
  const unready = old.filter((pod) => !isReady(pod));
  const readyCount = current.filter(isReady).length + old.length - unready.length;
  const dispensable = Math.max(0, readyCount - tooMany.filter(isReady).length - leastReady);
  return [...tooMany, ...unready, ...firstToEnd(old.filter(isReady), now, dispensable)];
}

/**
 * Returns the pods to delete in about the order of the ReplicaSet controller: pods that are not ready, then pods with a
 * lower deletion cost, then newer pods.
 */
function firstToEnd(pods: Pods, now: Instant, count: number): Pods {
  if (count <= 0) return [];
  const rank = (pod: PodState): number => ['pending', 'starting', 'ready'].indexOf(phaseOf(pod, now));
  return [...pods]
    .sort(
      (a, b) =>
        rank(a) - rank(b) ||
        a.deletionCost - b.deletionCost ||
        b.createdAt - a.createdAt ||
        b.readyAt - a.readyAt,
    )
    .slice(0, count);
}

/**
 * Steps like the StatefulSet controller: one pod at a time, in ascending order for creations and in descending order
 * for deletions.
 */
function stepOrdered(spec: WorkloadSpec, present: Pods, now: Instant, random: Random): PodState[] {
  const byOrdinal = new Map(present.map((pod) => [pod.ordinal, pod]));
  for (let ordinal = 0; ordinal < spec.replicas; ordinal += 1) {
    const pod = byOrdinal.get(ordinal);
    if (pod === undefined) return [...present, makePod(spec, { now, ordinal }, random)];
    if (phaseOf(pod, now) !== 'ready') break;
  }
  const highest = [...present].sort((a, b) => b.ordinal - a.ordinal);
  const condemned =
    highest.find((pod) => pod.ordinal >= spec.replicas) ??
    highest.find((pod) => pod.revision !== spec.revision);
  const isBusy = present.some(
    (pod) =>
      pod.deletedAt !== null ||
      (phaseOf(pod, now) !== 'ready' && pod !== condemned && pod.ordinal < spec.replicas),
  );
  if (condemned === undefined || isBusy) return [...present];
  return present.map((pod) => (pod === condemned ? endPod(pod, now, spec.timing, random) : pod));
}

/**
 * A pod. `startsAt`, `readyAt` and `goneAt` are planned times in milliseconds since the Unix epoch; Infinity: never.
 */
export interface PodState {
  readonly name: string;
  readonly revision: string;
  /** The ordinal of a pod of a StatefulSet; otherwise 0. */
  readonly ordinal: number;
  readonly createdAt: Instant;
  readonly startsAt: number;
  readonly readyAt: number;
  /** When the pod was deleted; null: it is not terminating. */
  readonly deletedAt: Instant | null;
  readonly goneAt: number;
  /** Whether the pod is unready even after `readyAt`. */
  readonly isBroken: boolean;
  /** Among otherwise equal pods, the pod with the lowest cost is deleted first. */
  readonly deletionCost: number;
}

export type PodPhase = 'pending' | 'starting' | 'ready' | 'terminating' | 'gone';

/** Returns the phase of a pod. A terminating pod does not count as ready. */
export function phaseOf(pod: PodState, now: Instant): PodPhase {
  if (now >= pod.goneAt) return 'gone';
  if (pod.deletedAt !== null) return 'terminating';
  if (now < pod.startsAt) return 'pending';
  return now < pod.readyAt || pod.isBroken ? 'starting' : 'ready';
}

/** Returns when the pod reaches its next phase; Infinity: never. */
function nextPhaseAt(pod: PodState, now: Instant): number {
  const moments = pod.deletedAt === null && !pod.isBroken ? [pod.startsAt, pod.readyAt] : [pod.startsAt];
  const ahead = (pod.deletedAt === null ? moments : [pod.goneAt]).filter((moment) => moment > now);
  return Math.min(Number.POSITIVE_INFINITY, ...ahead);
}
