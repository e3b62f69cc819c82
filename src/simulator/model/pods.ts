import type { Instant } from '../../units/time.js';

/** A pod with the planned times of its phases, in milliseconds since the epoch; Infinity: never. */
export interface PodState {
  readonly name: string;
  readonly revision: string;
  /** Ordinal in a StatefulSet; otherwise 0. */
  readonly ordinal: number;
  readonly createdAt: Instant;
  readonly startsAt: number;
  readonly readyAt: number;
  /** Null while the pod is not terminating. */
  readonly deletedAt: Instant | null;
  readonly goneAt: number;
  /** The pod is not ready, regardless of `readyAt`. */
  readonly isBroken: boolean;
  /**
   * `controller.kubernetes.io/pod-deletion-cost`: among otherwise equal pods, the one with the lowest cost is deleted
   * first.
   */
  readonly deletionCost: number;
}

export type PodPhase = 'pending' | 'starting' | 'ready' | 'terminating' | 'gone';

/** A terminating pod is not ready. */
export function phaseOf(pod: PodState, now: Instant): PodPhase {
  if (now >= pod.goneAt) return 'gone';
  if (pod.deletedAt !== null) return 'terminating';
  if (now < pod.startsAt) return 'pending';
  return now < pod.readyAt || pod.isBroken ? 'starting' : 'ready';
}

/** Infinity: no further phase. */
export function nextPhaseAt(pod: PodState, now: Instant): number {
  const moments = pod.deletedAt === null && !pod.isBroken ? [pod.startsAt, pod.readyAt] : [pod.startsAt];
  const ahead = (pod.deletedAt === null ? moments : [pod.goneAt]).filter((moment) => moment > now);
  return Math.min(Number.POSITIVE_INFINITY, ...ahead);
}
