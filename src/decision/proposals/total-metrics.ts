import type { ExternalMetric, ObjectMetric } from '../../scaler/spec.js';
import { milliToNumber } from '../../units/quantity.js';
import type { Milli } from '../../units/quantity.js';
import type { Pod, Sample, ValuesSample } from '../snapshot/snapshot.js';
import type { Proposal, ProposalContext } from './context.js';
import { NO_PODS, noProposal } from './context.js';
import { ceilCount } from './count.js';
import { MilliSum } from './milli-sum.js';
import { isWithinTolerance } from './tolerance.js';

/** Returns the proposal of a metric with one value for the whole workload: Object (one series) or External (a sum). */
export function proposeFromTotal(
  metric: ObjectMetric | ExternalMetric,
  sample: ValuesSample,
  context: ProposalContext,
): Proposal {
  const total = totalOf(sample);
  const { target } = metric;
  switch (target.type) {
    case 'AverageValue':
      return proposePerPod(total, target.milli, context);
    case 'Value':
      return proposeFromValue(total, target.milli, context);
    case 'Utilization':
      return noProposal(`a target in percent for a metric of type ${metric.type}`);
    default:
      return target satisfies never;
  }
}

/** Returns 0 for a sample of another form. */
export function totalOf(sample: Sample): Milli {
  const sum = new MilliSum();
  if (sample.form === 'values') sample.values.forEach(sum.add);
  return sum.total;
}

/** Includes pods that are being deleted. */
export function countReadyPods(pods: readonly Pod[]): number {
  return pods.filter((pod) => pod.phase === 'Running' && pod.ready === true).length;
}

/**
 * `ceil(total / target)`. The ratio is `total / (target * statusReplicas)`. Within tolerance, the proposal is
 * specReplicas. The HPA proposes statusReplicas there, and so writes the surge pods of a rolling update into the spec
 * (kubernetes/kubernetes#138505, #72775). Source: replica_calculator.go, GetExternalPerPodMetricReplicas.
 */
function proposePerPod(
  total: Milli,
  target: Milli,
  { target: counts, tolerances }: ProposalContext,
): Proposal {
  const { specReplicas, statusReplicas } = counts;
  const ratio = Number(total) / (Number(target) * statusReplicas);
  const proposal = isWithinTolerance(ratio, tolerances)
    ? specReplicas
    : ceilCount(Number(total) / Number(target));
  const average = statusReplicas === 0 ? 0 : Math.ceil(Number(total) / statusReplicas) / 1000;
  return {
    proposal,
    current: { averageValue: average },
    ratio: Number.isFinite(ratio) ? ratio : null,
    error: null,
    pods: NO_PODS,
    podReasons: {},
  };
}

/**
 * `ceil(ratio * pods that are Running and Ready)`, including pods that are being deleted; `ceil(ratio)` at 0 replicas.
 * Source: replica_calculator.go, GetObjectMetricReplicas and getUsageRatioReplicaCount.
 */
function proposeFromValue(total: Milli, target: Milli, context: ProposalContext): Proposal {
  const { specReplicas } = context.target;
  const ratio = Number(total) / Number(target);
  const seen = { current: { value: milliToNumber(total) }, ratio, pods: NO_PODS, podReasons: {} };
  if (specReplicas === 0) return { ...seen, proposal: ceilCount(ratio), error: null };
  if (isWithinTolerance(ratio, context.tolerances)) return { ...seen, proposal: specReplicas, error: null };
  if (context.pods.length === 0) return noProposal('the selector matches no pods', seen);
  return { ...seen, proposal: ceilCount(ratio * countReadyPods(context.pods)), error: null };
}
