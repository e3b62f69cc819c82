import { addSeconds, type Instant, instantFromMs, secondsBetween, YEAR_ONE } from '../../units/time.js';
import type { PodGroups } from '../result/decision.js';
import type { Pod } from '../snapshot/snapshot.js';

/** When usage was measured and over which window, and how long a pod warms up. */
export interface ReadinessRule {
  /** Whether the HPA's rule for unready pods applies. It applies to cpu only. */
  readonly isCpu: boolean;
  /** 0: pods need no warmup, and only the HPA's rule applies. */
  readonly podWarmupSeconds: number;
  readonly now: Instant;
  readonly sampledAt: Instant;
  readonly windowSeconds: number;
  readonly cpuInitializationPeriodSeconds: number;
  readonly initialReadinessDelaySeconds: number;
}

/** The pods, grouped by how a metric treats them. `reasons` contains, by pod name, why a pod is not in `ready`. */
export interface GroupedPods {
  readonly groups: PodGroups;
  readonly reasons: Readonly<Record<string, string>>;
}

/**
 * Groups pods into ready, unready, missing and ignored, each in the order of `pods`. A pod that is not pending and has
 * no sample is missing, whether Ready or not. If `readiness` is null, pods that are not Ready are also in `ready`: for
 * metrics other than cpu in documents without `podWarmupSeconds`. Source: replica_calculator.go, groupPods
 * (algorithm.md, points 10 and 11).
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
    const warmup = readiness === null ? null : (whyUnready(pod, readiness) ?? whyWarming(pod, readiness));
    if (ended !== null) setAside('ignored', pod, ended);
    else if (pod.phase === 'Pending') setAside('unready', pod, 'pending');
    else if (!hasSample(pod.name)) setAside('missing', pod, 'no sample');
    else if (warmup !== null) setAside('unready', pod, warmup);
    else groups.ready.push(pod.name);
  }
  // `Object.fromEntries`, because an assignment to `reasons['__proto__']` would lose the reason of a pod with that
  // name.
  return { groups, reasons: Object.fromEntries(reasons) };
}

/**
 * Returns when the pods that are Ready but still in `unready` will be in `ready`, earliest first. A pod will be in
 * `ready` at the first decision whose sample covers a window in which the pod was always Ready. The times assume that
 * future samples are as old as the current one.
 */
export function readyPodsCountFrom(pods: readonly Pod[], rule: ReadinessRule): readonly Instant[] {
  return pods
    .filter((pod) => whyIgnored(pod) === null && pod.phase === 'Running' && pod.ready === true)
    .map((pod) => countsFrom(pod, rule))
    .filter((at) => at > rule.now)
    .sort((one, other) => one - other);
}

/**
 * Returns when a pod will be in `ready`: after it has been Ready for long enough, but at the latest when it is no
 * longer young.
 */
function countsFrom(pod: Pod, rule: ReadinessRule): Instant {
  const { isCpu, windowSeconds, podWarmupSeconds: warmup, cpuInitializationPeriodSeconds: youth } = rule;
  const start = pod.startTime ?? YEAR_ONE;
  const changed = addSeconds(pod.readyChangedAt ?? YEAR_ONE, secondsBetween(rule.sampledAt, rule.now));
  const ofWindow = isCpu ? Math.min(addSeconds(changed, windowSeconds), addSeconds(start, youth)) : YEAR_ONE;
  const ofWarmup = Math.min(addSeconds(changed, warmup), addSeconds(start, youth + warmup));
  return instantFromMs(Math.max(ofWindow, warmup === 0 ? YEAR_ONE : ofWarmup));
}

function whyIgnored(pod: Pod): string | null {
  if (pod.deleting) return 'being deleted';
  if (pod.phase === 'Failed') return 'failed';
  return pod.phase === 'Succeeded' ? 'succeeded' : null;
}

function whyUnready(pod: Pod, rule: ReadinessRule): string | null {
  if (!rule.isCpu) return null;
  if (pod.ready === null) return 'no Ready condition';
  if (pod.startTime === null) return 'not started';
  const changedAt = pod.readyChangedAt ?? YEAR_ONE;
  if (addSeconds(pod.startTime, rule.cpuInitializationPeriodSeconds) > rule.now) {
    if (!pod.ready) return 'starting, not ready yet';
    const isWhole = rule.sampledAt >= addSeconds(changedAt, rule.windowSeconds);
    return isWhole
      ? null
      : `ready for less than the window of ${rule.windowSeconds} s when its usage was measured`;
  }
  return !pod.ready && isNeverReady(pod.startTime, changedAt, rule) ? 'never ready since its start' : null;
}

/**
 * Returns why a pod is still warming up; null: it is not. A pod is young for `cpuInitializationPeriodSeconds` plus
 * `podWarmupSeconds` after its start. A young pod is included if it had been Ready for `podWarmupSeconds` when usage
 * was measured. An older pod is included even if it is not Ready: it is more likely overloaded than idle, and if it
 * were assumed to be idle, the count could not rise. Source: reliability.md, D5.
 */
function whyWarming(pod: Pod, rule: ReadinessRule): string | null {
  const warmup = rule.podWarmupSeconds;
  if (warmup === 0) return null;
  if (pod.ready === null) return 'no Ready condition';
  if (pod.startTime === null) return 'not started';
  const changedAt = pod.readyChangedAt ?? YEAR_ONE;
  const isYoung = addSeconds(pod.startTime, rule.cpuInitializationPeriodSeconds + warmup) > rule.now;
  if (!pod.ready) {
    if (isNeverReady(pod.startTime, changedAt, rule)) return 'never ready since its start';
    return isYoung
      ? `no longer ready; a new pod counts after it has been ready for podWarmupSeconds (${warmup} s)`
      : null;
  }
  if (!isYoung || rule.sampledAt >= addSeconds(changedAt, warmup)) return null;
  return `ready for less than podWarmupSeconds (${warmup} s) when its usage was measured`;
}

function isNeverReady(startTime: Instant, changedAt: Instant, rule: ReadinessRule): boolean {
  return addSeconds(startTime, rule.initialReadinessDelaySeconds) > changedAt;
}
