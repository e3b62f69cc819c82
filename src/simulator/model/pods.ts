import type { Instant } from '../../units/time.js';

/** A pod, with the moments of its life planned ahead (milliseconds since the epoch; Infinity for never). */
export interface PodState {
  readonly name: string;
  /** Which template it was made from. */
  readonly revision: string;
  /** Of a StatefulSet; 0 otherwise. */
  readonly ordinal: number;
  readonly createdAt: Instant;
  /** When its containers run. */
  readonly startsAt: number;
  /** When it is ready. */
  readonly readyAt: number;
  /** When it was told to end; null while it lives. */
  readonly deletedAt: Instant | null;
  /** When it is gone. */
  readonly goneAt: number;
  /** A fault: never ready, whatever `readyAt` says. */
  readonly isBroken: boolean;
  /** `controller.kubernetes.io/pod-deletion-cost`: the cheapest of equals ends first. */
  readonly deletionCost: number;
}

/** What can be seen of a pod from outside. */
export type PodPhase = 'pending' | 'starting' | 'ready' | 'terminating' | 'gone';

/** The phase at a moment. A pod that ends is not ready any more from the first moment on. */
export function phaseOf(pod: PodState, now: Instant): PodPhase {
  if (now >= pod.goneAt) return 'gone';
  if (pod.deletedAt !== null) return 'terminating';
  if (now < pod.startsAt) return 'pending';
  return now < pod.readyAt || pod.isBroken ? 'starting' : 'ready';
}

/** When the phase changes next by itself; Infinity for never. */
export function nextPhaseAt(pod: PodState, now: Instant): number {
  const moments = pod.deletedAt === null && !pod.isBroken ? [pod.startsAt, pod.readyAt] : [pod.startsAt];
  const ahead = (pod.deletedAt === null ? moments : [pod.goneAt]).filter((moment) => moment > now);
  return Math.min(Number.POSITIVE_INFINITY, ...ahead);
}
