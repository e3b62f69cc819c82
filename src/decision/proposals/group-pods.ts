import { YEAR_ONE, addSeconds } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import type { PodGroups } from '../decision.js';
import type { Pod } from '../snapshot.js';

/** When and over how long the usage was measured, and how long a pod may warm up. */
export interface ReadinessRule {
  readonly now: Instant;
  readonly sampledAt: Instant;
  readonly windowSeconds: number;
  readonly cpuInitializationPeriodSeconds: number;
  readonly initialReadinessDelaySeconds: number;
}

/** Pods by how a metric counts them, and why each one that is not ready is set aside. */
export interface GroupedPods {
  readonly groups: PodGroups;
  readonly reasons: Readonly<Record<string, string>>;
}

/**
 * Sorts pods into ready, unready, missing and ignored, each in the order of `pods`. `readiness` is given for cpu only:
 * every other metric counts pods that are not Ready, too. A pod without a sample is missing before its readiness is
 * looked at. Source: replica_calculator.go, groupPods (algorithm.md, points 10 and 11).
 */
export function groupPods(
  pods: readonly Pod[],
  hasSample: (podName: string) => boolean,
  readiness: ReadinessRule | null,
): GroupedPods {
  const groups = {
    ready: [] as string[],
    unready: [] as string[],
    missing: [] as string[],
    ignored: [] as string[],
  };
  const reasons = new Map<string, string>();
  const setAside = (group: 'unready' | 'missing' | 'ignored', pod: Pod, why: string): void => {
    groups[group].push(pod.name);
    reasons.set(pod.name, why);
  };
  for (const pod of pods) {
    const ended = whyIgnored(pod);
    const warmup = readiness === null ? null : whyUnready(pod, readiness);
    if (ended !== null) setAside('ignored', pod, ended);
    else if (pod.phase === 'Pending') setAside('unready', pod, 'pending');
    else if (!hasSample(pod.name)) setAside('missing', pod, 'no sample');
    else if (warmup !== null) setAside('unready', pod, warmup);
    else groups.ready.push(pod.name);
  }
  // Through a Map: written into an object, the reason of a pod called `__proto__` would be lost.
  return { groups, reasons: Object.fromEntries(reasons) };
}

function whyIgnored(pod: Pod): string | null {
  if (pod.deleting) return 'being deleted';
  if (pod.phase === 'Failed') return 'failed';
  return pod.phase === 'Succeeded' ? 'succeeded' : null;
}

function whyUnready(pod: Pod, rule: ReadinessRule): string | null {
  if (pod.ready === null) return 'no Ready condition';
  if (pod.startTime === null) return 'not started';
  const changedAt = pod.readyChangedAt ?? YEAR_ONE;
  if (addSeconds(pod.startTime, rule.cpuInitializationPeriodSeconds) > rule.now) {
    if (!pod.ready) return 'not ready while it starts';
    const isWhole = rule.sampledAt >= addSeconds(changedAt, rule.windowSeconds);
    return isWhole ? null : `ready for less than one window of ${rule.windowSeconds} s when it was measured`;
  }
  const neverReady = addSeconds(pod.startTime, rule.initialReadinessDelaySeconds) > changedAt;
  return !pod.ready && neverReady ? 'never been ready' : null;
}
