import type { ReportedCycle } from '../../api/answers.js';
import { countChange } from '../../decision/explain.js';
import { isUnusedObject } from '../../decision/rejection.js';
import type { Decision } from '../../decision/result/decision.js';
import type { Snapshot } from '../../decision/snapshot/snapshot.js';
import { isOfObject } from '../../scaler/problems/problem.js';
import type { Instant } from '../../units/time.js';

export interface Explanation {
  readonly snapshot: Snapshot;
  readonly decision: Decision;
  /** Null: the snapshot is from a file. */
  readonly status: ReportedCycle | null;
  /** The time to which "ago" and "in" refer: the current time, or the time of the snapshot. */
  readonly now: Instant;
}

/**
 * Returns what a pause with a fixed count does to the replicas; null: there is no such pause. A past decision of the
 * service has no `pause`, but the message of its outcome starts with `paused by`.
 */
export function pausedChange(
  status: ReportedCycle | null,
): { readonly from: number; readonly to: number } | null {
  if (status === null) return null;
  const { pause, decision, outcome } = status;
  const replicas = pause?.replicas ?? null;
  if (replicas !== null && decision !== null) return { from: decision.currentReplicas, to: replicas };
  const { kind, from, to, message } = outcome;
  if (!message.startsWith('paused by ') || from === null || to === null) return null;
  return { from, to: kind === 'patched' ? to : from };
}

/**
 * Returns the reason that replaces the reason of the decision while a pause sets the replicas, and in the first cycle
 * after the pause; null: none replaces it. A past decision of the service has only the message of its outcome.
 */
export function otherReason(status: ReportedCycle | null): string | null {
  const reason = status?.reason ?? null;
  if (reason !== null) return reason === status?.decision?.reason ? null : reason;
  const change = pausedChange(status);
  return change === null ? null : `${countChange(change.from, change.to)}: ${status?.outcome.message ?? ''}`;
}

type Problems = NonNullable<ReportedCycle['rejections']>;

/**
 * Separates the errors of a rejected document from the errors of an object that has no effect because a file contains a
 * document with the same name. If the decision has a generation, the service uses the object, so all errors belong to
 * the rejected document.
 */
export function splitRejections({ generation = null, rejections = [] }: ReportedCycle): {
  readonly rejected: Problems;
  readonly unusedObject: Problems;
} {
  const hasFile = generation === null && rejections.some(isUnusedObject);
  const isUnused = (problem: Problems[number]): boolean => hasFile && isOfObject(problem);
  return {
    rejected: rejections.filter((problem) => !isUnused(problem)),
    unusedObject: rejections.filter(isUnused),
  };
}
