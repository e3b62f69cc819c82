import type { Pod } from '../../decision/snapshot/snapshot.js';
import type { ScalerSpec } from '../../scaler/spec.js';
import { secondsBetween } from '../../units/time.js';

/** The seconds that each pod took from its start until it was first seen ready, by pod name. The newest are last. */
export type PodStarts = ReadonlyMap<string, number>;

/** Limits the starts that are kept. Starts of pods that still exist are never removed, even if there are more. */
const KEPT = 100;

/**
 * Longest time that is recorded as a start. A pod that took longer was probably ready before and unready in between,
 * because the Ready condition shows only its last change.
 */
const LONGEST_SECONDS = 3600;

/** Returns whether starts of pods are measured. Most documents set the pod start time, or do not use it. */
export function learnsPodStart({ podStart, forecast }: Pick<ScalerSpec, 'podStart' | 'forecast'>): boolean {
  return podStart === null ? forecast?.leadSeconds === null : podStart.seconds === null;
}

/** Adds the starts of pods that have become ready. Returns `before` itself if there are none. */
export function learnPodStarts(before: PodStarts, pods: readonly Pod[]): PodStarts {
  const added = pods.flatMap((pod) => {
    if (before.has(pod.name)) return [];
    const seconds = startSeconds(pod);
    return seconds === null ? [] : [[pod.name, seconds] as const];
  });
  if (added.length === 0) return before;
  const starts = new Map([...before, ...added]);
  const listed = new Set(pods.map(({ name }) => name));
  for (const name of starts.keys()) {
    if (starts.size <= KEPT) break;
    if (!listed.has(name)) starts.delete(name);
  }
  return starts;
}

function startSeconds({ ready, startTime, readyChangedAt }: Pod): number | null {
  if (ready !== true || startTime === null || readyChangedAt === null) return null;
  const seconds = Math.ceil(secondsBetween(startTime, readyChangedAt));
  return seconds >= 0 && seconds <= LONGEST_SECONDS ? seconds : null;
}

/**
 * The meaning of the result of `podStartOf`, to be placed after the seconds. The time until a node has room for a pod
 * is not included.
 */
export const POD_START_OF = 'in which 95 % of the pods became ready after their start on a node';

/** Returns the seconds in which 95 % of the pods became ready, at least 1; null: no pod has become ready. */
export function podStartOf(starts: PodStarts): number | null {
  const sorted = [...starts.values()].sort((one, other) => one - other);
  const slow = sorted[Math.ceil(0.95 * sorted.length) - 1];
  return slow === undefined ? null : Math.max(1, slow);
}
