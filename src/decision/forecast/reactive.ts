import type { MetricSpec } from '../../scaler/spec.js';
import { milliToNumber, sumMilli } from '../../units/quantity.js';
import { addSeconds, type Instant } from '../../units/time.js';
import type { LimitContext } from '../limits/limit.js';
import { applyLimits } from '../limits/limits.js';
import { longestPeriodSeconds } from '../limits/policy.js';
import { ceilCount, isWithinTolerance, tolerancesOf } from '../proposals/arithmetic.js';
import { containerOf } from '../proposals/pod-metrics.js';
import { podRequests } from '../proposals/pod-requests.js';
import type { JudgedMetric } from '../proposals/propose.js';
import type { Pod, ReactiveCount, Recommendation, Snapshot } from '../snapshot/snapshot.js';

/**
 * Returns the current count of the target. Until the forecast first increases the count, it is also the count without a
 * forecast.
 */
export function reactiveOf({ target, state }: Snapshot): ReactiveCount {
  const { lastScaleUp, lastScaleDown, scaleEvents } = state;
  return { replicas: target.specReplicas, lastScaleUp, lastScaleDown, scaleEvents };
}

/**
 * Returns how many pods would carry the current load if there were no forecast: the pods that would have started at
 * least `leadSeconds` ago.
 */
export function carryingPods(
  { replicas, scaleEvents }: ReactiveCount,
  now: Instant,
  leadSeconds: number,
): number {
  const start = addSeconds(now, -leadSeconds);
  let [count, least] = [replicas, replicas];
  for (const { at, change } of scaleEvents.toReversed()) {
    if (at <= start) break;
    count -= change;
    least = Math.min(least, count);
  }
  return Math.max(0, least);
}

/**
 * Returns the count that the scaler would set now if it had no forecast. It can be lower than the proposal for the
 * measured load. Without a forecast, the count would rise step by step, because full pods hide load beyond their
 * capacity. The additional pods of a forecast show the whole load at once.
 */
export function advanceReactive(
  before: ReactiveCount,
  metrics: readonly JudgedMetric[],
  {
    context,
    snapshot,
    carrying,
    leadSeconds,
  }: {
    readonly context: LimitContext;
    readonly snapshot: Snapshot;
    /** See `carryingPods`. */
    readonly carrying: number;
    readonly leadSeconds: number;
  },
): ReactiveCount {
  const { spec, now, state } = context;
  const current = Math.min(spec.maxReplicas, Math.max(spec.minReplicas, before.replicas));
  const recommended = recommendedAt({ current, carrying }, metrics, snapshot);
  const { replicas } = applyLimits({
    ...context,
    current,
    recommended,
    recommendations: atMost(Math.max(current, recommended), context.recommendations),
    state: { ...state, ...before },
  });
  const start = addSeconds(now, -Math.max(leadSeconds, longestPeriodSeconds(spec)));
  const events = before.scaleEvents.filter(({ at }) => at >= start);
  return {
    replicas,
    lastScaleUp: replicas > current ? now : before.lastScaleUp,
    lastScaleDown: replicas < current ? now : before.lastScaleDown,
    scaleEvents: replicas === current ? events : [...events, { at: now, change: replicas - current }],
  };
}

/**
 * Limits the recommendations of earlier decisions to `most`. Higher ones come from the additional pods of the forecast,
 * which showed load that fewer pods would have hidden.
 */
function atMost(most: number, recommendations: readonly Recommendation[]): readonly Recommendation[] {
  return recommendations.some(({ replicas }) => replicas > most)
    ? recommendations.map(({ at, replicas }) => ({ at, replicas: Math.min(most, replicas) }))
    : recommendations;
}

/**
 * Returns the largest proposal that the metrics would make for the same load if the target had `current` replicas, of
 * which `carrying` carry load.
 */
function recommendedAt(
  { current, carrying }: { readonly current: number; readonly carrying: number },
  metrics: readonly JudgedMetric[],
  { scaler, target, pods: allPods }: Snapshot,
): number {
  const tolerances = tolerancesOf(scaler.spec);
  return metrics.reduce((largest, { spec, arithmetic, result }) => {
    const { proposal } = result;
    if (arithmetic === null || proposal === null || result.saturation?.replicas !== undefined)
      return Math.max(largest, proposal ?? 0);
    const { usage, filledUsage, target: wanted, pods } = arithmetic;
    const pull = ((filledUsage ?? usage) / wanted) * pods;
    const full = Math.max(usage, fullUsage(spec, allPods) ?? Infinity);
    const seen = Math.min(pull, (full / wanted) * carrying);
    if (isWithinTolerance(seen / current, tolerances)) return Math.max(largest, current);
    const isKept = proposal === target.specReplicas && arithmetic.keptBy !== null;
    return Math.max(largest, isKept || seen < pull ? ceilCount(seen) : proposal);
  }, 0);
}

/**
 * Returns the usage above which a pod hides further load: its cpu limit, or its requests if it has no limit. The unit
 * is the unit of the target. Null: the usage is unknown, or the metric is not a resource.
 */
function fullUsage(metric: MetricSpec, pods: readonly Pod[]): number | null {
  if (metric.type !== 'Resource' && metric.type !== 'ContainerResource') return null;
  const limit = metric.name === 'cpu' && metric.type === 'Resource' ? meanLimit(pods) : null;
  const isPercent = metric.target.type === 'Utilization';
  if (limit === null && isPercent) return 100;
  if (limit !== null && !isPercent) return limit;
  const answer = podRequests(pods, metric.name, containerOf(metric));
  if ('error' in answer) return null;
  const request = milliToNumber(sumMilli(answer.requests.values()) * 1000n) / answer.requests.size;
  return limit === null ? request : (100 * limit) / request;
}

/** Returns the mean cpu limit of the pods in milli-units; null: there are no pods, or one has no limit. */
function meanLimit(pods: readonly Pod[]): number | null {
  let sum = 0;
  for (const { cpuLimit } of pods) {
    if (cpuLimit === undefined) return null;
    sum += Number(cpuLimit);
  }
  return pods.length === 0 ? null : sum / pods.length;
}
