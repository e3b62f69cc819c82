import type { MetricTarget } from '../../scaler/spec.js';
import { addMilli, milliToNumber } from '../../units/quantity.js';
import type { Milli } from '../../units/quantity.js';
import type { CurrentValue } from '../result/decision.js';
import type { Pod } from '../snapshot/snapshot.js';
import type { PodMetric } from './context.js';
import { podRequests } from './pod-requests.js';

type UsageRatio = { readonly ratio: number; readonly current: CurrentValue } | { readonly error: string };

/**
 * `of` converts usage by pod to a ratio. `fullUsageOf` returns the usage of a pod that is assumed to be at full usage.
 */
export interface UsageMeasure {
  readonly of: (usage: ReadonlyMap<string, Milli>) => UsageRatio;
  readonly fullUsageOf: (podName: string) => Milli;
}

export function usageMeasure(
  metric: PodMetric,
  pods: readonly Pod[],
): UsageMeasure | { readonly error: string } {
  const { target } = metric;
  if (target.type !== 'Utilization') return averageMeasure(target);
  const container = metric.type === 'ContainerResource' ? metric.container : null;
  const answer = podRequests(pods, metric.name, container);
  return 'error' in answer ? answer : utilizationMeasure(target.percent, answer.requests);
}

/**
 * `trunc(sum(usage) * 100 / sum(request)) / target` over the pods that have both. The percentage is truncated to an
 * integer before the division: 55.9 % with target 50 is 1.1. A pod at full usage uses max(100, target) percent of its
 * request. Source: metrics/utilization.go, GetResourceUtilizationRatio.
 */
function utilizationMeasure(targetPercent: number, requests: ReadonlyMap<string, Milli>): UsageMeasure {
  return {
    of: (usage) => {
      let used = 0n;
      let requested = 0n;
      let count = 0n;
      for (const [pod, value] of usage) {
        const request = requests.get(pod);
        if (request === undefined) continue;
        used = addMilli(used, value);
        requested = addMilli(requested, request);
        count += 1n;
      }
      if (count === 0n) return { error: 'no sample belongs to a pod of the target' };
      if (requested === 0n) return { error: 'the requests of the pods add up to 0' };
      const percent = Number((used * 100n) / requested);
      const current = { averageUtilization: percent, averageValue: milliToNumber(used / count) };
      return { ratio: percent / targetPercent, current };
    },
    fullUsageOf: (pod) => ((requests.get(pod) ?? 0n) * BigInt(Math.max(100, targetPercent))) / 100n,
  };
}

/**
 * `trunc(sum / number of pods) / target` in milli-units, including pods that are not listed. Source:
 * metrics/utilization.go, GetMetricUsageRatio.
 */
function averageMeasure(target: Exclude<MetricTarget, { type: 'Utilization' }>): UsageMeasure {
  return {
    of: (usage) => {
      let total = 0n;
      for (const value of usage.values()) total = addMilli(total, value);
      const average = total / BigInt(usage.size);
      return {
        ratio: Number(average) / Number(target.milli),
        current: { averageValue: milliToNumber(average) },
      };
    },
    fullUsageOf: () => target.milli,
  };
}
