import { type Instant, instantFromMs } from '../../units/time.js';
import { generatedName } from './names.js';
import { type PodState, nextPhaseAt, phaseOf } from './pods.js';
import type { Random } from './random.js';

/** How long the steps of a pod's life take, in seconds. Infinity: it never gets there. */
export interface PodTiming {
  /** From its creation until its containers run. */
  readonly startSeconds: number;
  /** From then until it is ready. */
  readonly readySeconds: number;
  /** From its deletion until it is gone. */
  readonly terminationSeconds: number;
  /** Each delay is up to this share longer, at random. */
  readonly jitterRatio: number;
}

/** What a workload is told to be. */
export interface WorkloadSpec {
  readonly name: string;
  /** `rolling`: pods of any revision under random names, replaced by surge; `ordered`: `name-0`, `name-1` ... */
  readonly order: 'rolling' | 'ordered';
  readonly replicas: number;
  /** Which template new pods are made from; part of the pod's name where `isRevisionNamed`. */
  readonly revision: string;
  readonly isRevisionNamed: boolean;
  /** Absolute counts, as the percentages of a Deployment resolve for `replicas`. */
  readonly maxSurge: number;
  readonly maxUnavailable: number;
  readonly isPaused: boolean;
  readonly timing: PodTiming;
}

/** The pods of a workload, those on their way out included. */
export type Pods = readonly PodState[];

/** What a workload looks like after a step. */
export interface Step {
  readonly pods: Pods;
  /** When it should be looked at again; Infinity where nothing is under way. */
  readonly nextAt: number;
}

/** More passes than any change needs: each adds or ends pods, and the next sees what that makes room for. */
const MOST_PASSES = 100;

/** Adds, ends and drops pods as the controllers of Kubernetes would at this moment. Pure but for `random`. */
export function stepWorkload(spec: WorkloadSpec, before: Pods, now: Instant, random: Random): Step {
  const step = spec.order === 'ordered' ? stepOrdered : stepRolling;
  let pods = before.filter((pod) => phaseOf(pod, now) !== 'gone');
  for (let pass = 0; pass < MOST_PASSES; pass += 1) {
    const next = step(spec, pods, now, random);
    const isSettled = next.length === pods.length && next.every((pod, i) => pod === pods[i]);
    pods = next;
    if (isSettled) break;
  }
  return { pods, nextAt: nextChangeAt(pods, now) };
}

/** When the first of the pods changes its phase by itself; Infinity where none will. */
export function nextChangeAt(pods: Pods, now: Instant): number {
  return Math.min(Number.POSITIVE_INFINITY, ...pods.map((pod) => nextPhaseAt(pod, now)));
}

/** Pods that are ready already, `ageSeconds` old: how a workload stands that has been there for long. */
export function settledPods(spec: WorkloadSpec, now: Instant, ageSeconds: number, random: Random): Pods {
  const createdAt = instantFromMs(now - ageSeconds * 1000);
  const age = { startsAt: createdAt, readyAt: createdAt };
  return Array.from({ length: spec.replicas }, (_, ordinal) => ({
    ...makePod(spec, { now: createdAt, ordinal }, random),
    ...age,
  }));
}

/** A pod that was told to end at `now`; one that is ending already stays as it is. */
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

/** The rule of the Deployment controller: never above replicas + surge, never fewer ready than replicas - unavailable. */
function stepRolling(spec: WorkloadSpec, present: Pods, now: Instant, random: Random): PodState[] {
  const living = present.filter((pod) => pod.deletedAt === null);
  const isCurrent = (pod: PodState): boolean => pod.revision === spec.revision;
  const current = living.filter(isCurrent);
  const old = living.filter((pod) => !isCurrent(pod));
  const isRolling = old.length > 0 && !spec.isPaused;
  const room = spec.replicas + (isRolling ? spec.maxSurge : 0) - living.length;
  const wanted = spec.replicas - (spec.isPaused ? living.length : current.length);
  const added = Array.from({ length: Math.max(0, Math.min(room, wanted)) }, () =>
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

/** The order of the ReplicaSet controller, shortened: not ready before ready, cheap before dear, young before old. */
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

/** The rule of the StatefulSet controller: one after another, up from 0, down and renewed from the top. */
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
