import { type Forecast, isOfResource, type MetricSpec } from '../../scaler/spec.js';
import { describeFailure } from '../../units/failure.js';
import { milliToNumber, sumMilli } from '../../units/quantity.js';
import { containerOf } from '../proposals/pod-metrics.js';
import { podRequests } from '../proposals/pod-requests.js';
import type { Pod, Sample } from '../snapshot/snapshot.js';

/** The load of the whole workload and of one pod, in base units. */
export interface Load {
  readonly metric: string;
  readonly total: number;
  /** The load that a ready pod may have when the expected load arrives; at least the target. */
  readonly ofPod: number;
  /** `ofPod` in words: `95 %`, `the target`. */
  readonly usage: string;
  /** The unit with a leading space; empty: the load has no unit. */
  readonly unit: string;
}

/**
 * Returns the load of a full value, or why the load is not known. If the target is a percentage of the requests, a
 * forecast fills each pod up to `fillPercent` (at least the target): the reserve above the target is for unexpected
 * load. If the target is an AverageValue, a pod carries the target.
 */
export function loadOf(
  metric: MetricSpec,
  sample: Sample,
  { pods, fillPercent }: { readonly pods: readonly Pod[] } & Pick<Forecast, 'fillPercent'>,
): Load | { readonly unknown: string } {
  if (sample.form === 'error') return { unknown: describeFailure(sample.failure) };
  if (sample.partial !== null) return { unknown: sample.partial };
  const { target } = metric;
  const usage = usageWhenFull(metric, fillPercent);
  const total = sumOf(metric, sample);
  const unit = isOfResource(metric) ? ' cores' : '';
  if (target.type !== 'Utilization') {
    return { metric: metric.identity, total, ofPod: milliToNumber(target.milli), usage, unit };
  }
  const answer = podRequests(pods, metric.name, containerOf(metric));
  if ('error' in answer) return { unknown: answer.error };
  const { requests } = answer;
  const request = milliToNumber(sumMilli(requests.values())) / requests.size;
  if (!(request > 0)) return { unknown: `no pod requests ${metric.name}` };
  const percent = Math.max(target.percent, fillPercent);
  return { metric: metric.identity, total, ofPod: (request * percent) / 100, usage, unit };
}

/** Returns the usage up to which a forecast fills a ready pod: `95 %`, `the target`. */
export function usageWhenFull({ target }: MetricSpec, fillPercent: number): string {
  return target.type === 'Utilization' ? `${Math.max(target.percent, fillPercent)} %` : 'the target';
}

function sumOf(metric: MetricSpec, sample: Exclude<Sample, { readonly form: 'error' }>): number {
  const { values } = sample;
  const container = containerOf(metric);
  const counts = (index: number): boolean =>
    sample.form !== 'containers' || container === null || sample.containers[index] === container;
  return values.reduce((sum, value, index) => (counts(index) ? sum + value : sum), 0);
}
