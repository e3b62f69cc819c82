import type { ResourceMetric } from '../../scaler/spec.js';
import { countOf } from '../../units/format.js';
import { milliFromNumber } from '../../units/quantity.js';
import { addSeconds, formatInstant, type Instant, secondsBetween } from '../../units/time.js';
import type { ContainersSample, Pod, Saturation } from '../snapshot/snapshot.js';
import type { Proposal, ProposalContext } from './context.js';
import { ceilCount, MilliSum } from './arithmetic.js';

/**
 * Usage of at least this percentage of the limits hides load. The percentage is below 100 because a throttled pod uses
 * slightly less than its limit.
 */
const SATURATED_PERCENT = 98n;

/**
 * The served load must have grown by this factor since the last step. Without this condition, a workload that waits for
 * a lock would get more and more pods without serving more load.
 */
const GROWTH = 1.1;

const NONE: Saturation = { since: null, served: null, step: null };

export interface Stepped {
  readonly proposal: Proposal;
  /** The saturation for the next decision. */
  readonly saturation: Saturation;
}

/**
 * Raises the proposal of a cpu metric to `factor` times the ready pods (a step), but never lowers it. There are two
 * conditions: usage has been at the limits of the pods for half of a pod start, and the served load has grown. The
 * growth is measured from the last step, or from the last time when usage was at or below the target. Pods that are
 * already starting are part of the step. The next step waits until the new pods have had time to start. Source:
 * algorithm.md, section 3, Saturation.
 */
export function stepOnSaturation(
  metric: ResourceMetric,
  sample: ContainersSample,
  base: Proposal,
  context: ProposalContext,
): Stepped {
  const { saturation: settings } = metric;
  const before = context.saturation ?? NONE;
  if (settings === undefined || base.proposal === null)
    return { proposal: base, saturation: { ...before, since: null } };
  const step = before.step !== null && isUnderWay(before.step, context) ? before.step : null;
  const usage = usageOfLimits(sample, context.pods);
  if ('unknown' in usage) {
    const why = `the usage in percent of the limits is unknown: ${usage.unknown}`;
    return told(base, { ...before, since: null, step }, why);
  }
  const { ready, percent } = usage;
  const { now, target } = context;
  if (percent < SATURATED_PERCENT) {
    const isMeasure = before.served === null || isOnTarget(metric, base);
    const served = isMeasure ? (sample.served ?? before.served) : before.served;
    return told(base, { since: null, served, step: null }, `${percent} % of the limits`);
  }
  const since = before.since ?? now;
  const state = { ...before, since, step };
  const full = `${percent} % of the limits since ${formatInstant(since)}`;
  if (step !== null)
    return raised(base, {
      state,
      to: step.to,
      why: `${full}, saturation step at ${formatInstant(step.at)}`,
    });
  const { served } = sample;
  const whyNot = whyNoStep({ since, served, before: before.served, usage }, context);
  if (whyNot !== null || served === undefined) return told(base, state, `${full}, ${whyNot ?? ''}`);
  const to = ceilCount(settings.factor * ready);
  const wanted = `${settings.factor} x ${countOf(ready, 'ready pod')}`;
  if (to <= target.specReplicas)
    return told(base, state, `${full}, spec.replicas (${target.specReplicas}) is already at least ${wanted}`);
  const why = `${full}, ${wanted}`;
  return raised(base, { state: { since, served, step: { at: now, to } }, to, why });
}

/** Returns whether the usage per pod is at or below the target. */
function isOnTarget({ target }: ResourceMetric, { current }: Proposal): boolean {
  const { averageUtilization = 0, averageValue = 0 } = current;
  return target.type === 'Utilization'
    ? averageUtilization <= target.percent
    : milliFromNumber(averageValue) <= target.milli;
}

function whyNoStep(
  {
    since,
    served,
    before,
    usage,
  }: {
    readonly since: Instant;
    readonly served: number | undefined;
    readonly before: number | null;
    readonly usage: LimitUsage;
  },
  { now, podStartSeconds }: ProposalContext,
): string | null {
  if (podStartSeconds === null) return 'no saturation step because the pod start time is unknown';
  const waitsUntil = addSeconds(since, podStartSeconds / 2);
  if (now < waitsUntil) return `no saturation step before ${formatInstant(waitsUntil)}`;
  if (!usage.isWhole)
    return `no saturation step until every ready pod has been ready for at least ${usage.windowSeconds} s`;
  if (served === undefined || before === null)
    return 'no saturation step because the change in served load is unknown';
  return served > GROWTH * before
    ? null
    : `no saturation step because the served load has only changed from ${before} to ${served}`;
}

function isUnderWay(
  { at }: NonNullable<Saturation['step']>,
  { now, podStartSeconds }: ProposalContext,
): boolean {
  return podStartSeconds !== null && secondsBetween(at, now) < podStartSeconds;
}

function told(base: Proposal, saturation: Saturation, why: string): Stepped {
  return { proposal: { ...base, saturation: { why, replicas: null } }, saturation };
}

function raised(
  base: Proposal,
  { state, to, why }: { readonly state: Saturation; readonly to: number; readonly why: string },
): Stepped {
  if (to <= (base.proposal ?? 0)) return told(base, state, why);
  return { proposal: { ...base, proposal: to, saturation: { why, replicas: to } }, saturation: state };
}

interface LimitUsage {
  /** The number of ready pods. */
  readonly ready: number;
  /** Usage of the pods that were ready for the whole window, in percent of their limits, rounded down. */
  readonly percent: bigint;
  /** Whether `percent` includes all ready pods, not only some of them. */
  readonly isWhole: boolean;
  /** The window of the query, in seconds. */
  readonly windowSeconds: number;
}

/** Returns the usage of the ready pods in percent of their limits, or why it is not known. */
function usageOfLimits(
  sample: ContainersSample,
  pods: readonly Pod[],
): LimitUsage | { readonly unknown: string } {
  const indexes = new Map(sample.pods.map((name, index) => [name, index]));
  const { windowSeconds } = sample;
  const used = new MilliSum();
  let limits = 0n;
  let [ready, measured] = [0, 0];
  for (const { name, phase, deleting, ready: isReady, readyChangedAt, cpuLimit } of pods) {
    if (deleting || phase !== 'Running' || isReady !== true) continue;
    ready += 1;
    if (cpuLimit === undefined) return { unknown: `pod ${name} has no cpu limit` };
    if (readyChangedAt !== null && addSeconds(readyChangedAt, windowSeconds) > sample.at) continue;
    const index = indexes.get(name);
    if (index === undefined) return { unknown: `pod ${name} has no sample` };
    for (let at = sample.starts[index] ?? 0; at < (sample.starts[index + 1] ?? 0); at += 1)
      used.add(sample.values[at] ?? NaN);
    limits += cpuLimit;
    measured += 1;
  }
  if (limits === 0n) return { unknown: `no pod has been ready for at least ${windowSeconds} s` };
  return { ready, percent: (used.total * 100n) / limits, isWhole: measured === ready, windowSeconds };
}
