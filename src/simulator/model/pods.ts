import type { Instant } from '../../units/time.js';

/** A pod with the planned times of its phases, in milliseconds since the epoch; Infinity: never. */
export interface PodState {
  readonly name: string;
  /** The template that it was created from. */
  readonly revision: string;
  /** Ordinal in a StatefulSet; otherwise 0. */
  readonly ordinal: number;
  readonly createdAt: Instant;
  /** Start of the containers. */
  readonly startsAt: number;
  readonly readyAt: number;
  /** Deletion; null while the pod is not terminating. */
  readonly deletedAt: Instant | null;
  /** Removal of the pod. */
  readonly goneAt: number;
  /** A fault: the pod is not ready, whatever `readyAt` is. */
  readonly isBroken: boolean;
  /**
   * `controller.kubernetes.io/pod-deletion-cost`: of otherwise equal pods, the one with the lowest is deleted first.
   */
  readonly deletionCost: number;
}

export type PodPhase = 'pending' | 'starting' | 'ready' | 'terminating' | 'gone';

/** Returns the phase at a time. A terminating pod is not ready. */
export function phaseOf(pod: PodState, now: Instant): PodPhase {
  if (now >= pod.goneAt) return 'gone';
  if (pod.deletedAt !== null) return 'terminating';
  if (now < pod.startsAt) return 'pending';
  return now < pod.readyAt || pod.isBroken ? 'starting' : 'ready';
}

/** Returns the time of the next phase; Infinity: none. */
export function nextPhaseAt(pod: PodState, now: Instant): number {
  const moments = pod.deletedAt === null && !pod.isBroken ? [pod.startsAt, pod.readyAt] : [pod.startsAt];
  const ahead = (pod.deletedAt === null ? moments : [pod.goneAt]).filter((moment) => moment > now);
  return Math.min(Number.POSITIVE_INFINITY, ...ahead);
}
