import type { MetricTarget } from '../../scaler/spec.js';
import { addMilli, milliToNumber } from '../../units/quantity.js';
import type { Milli } from '../../units/quantity.js';
import type { CurrentValue } from '../result/decision.js';

/** Usage of some pods in milli-units. */
export interface Usage {
  readonly pods: number;
  readonly used: Milli;
  /** Requests of these pods; 0 if the target is not a utilization. */
  readonly requested: Milli;
}

type UsageRatio = { readonly ratio: number; readonly current: CurrentValue } | { readonly error: string };

/**
 * Returns `trunc(sum(usage) * 100 / sum(request)) / target` for a utilization: the percentage is truncated to an integer
 * before the division, so 55.9 % with target 50 is 1.1. Otherwise `trunc(sum / number of pods) / target` in milli-units.
 * Source: metrics/utilization.go, GetResourceUtilizationRatio and GetMetricUsageRatio.
 */
export function usageRatio(target: MetricTarget, { pods, used, requested }: Usage): UsageRatio {
  if (pods === 0) return { error: 'no sample belongs to a pod of the target' };
  const average = used / BigInt(pods);
  const averageValue = milliToNumber(average);
  if (target.type !== 'Utilization')
    return { ratio: Number(average) / Number(target.milli), current: { averageValue } };
  if (requested === 0n) return { error: 'the requests of the pods add up to 0' };
  const averageUtilization = Number((used * 100n) / requested);
  return { ratio: averageUtilization / target.percent, current: { averageUtilization, averageValue } };
}

/** Returns the usage with one more pod, which is assumed to be idle or at full usage. */
export function withPod(
  { pods, used, requested }: Usage,
  pod: { readonly request: Milli; readonly usage: Milli },
): Usage {
  return {
    pods: pods + 1,
    used: addMilli(used, pod.usage),
    requested: addMilli(requested, pod.request),
  };
}

/** Returns the usage of a pod at full usage: the target, or max(100, target) percent of its request. */
export function fullUsage(target: MetricTarget, request: Milli): Milli {
  return target.type === 'Utilization'
    ? (request * BigInt(Math.max(100, target.percent))) / 100n
    : target.milli;
}
