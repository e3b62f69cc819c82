import type { ExternalMetric, MetricSpec, ObjectMetric } from '../../scaler/spec.js';
import { addMilli, milliFromNumber, milliToNumber } from '../../units/quantity.js';
import type { Milli } from '../../units/quantity.js';
import { capacityOf } from '../snapshot/judge-sample.js';
import type { Pod, Sample, ValuesSample } from '../snapshot/snapshot.js';
import type { Arithmetic, Proposal, ProposalContext } from './context.js';
import { NO_PODS, noProposal } from './context.js';
import { ceilCount, isWithinTolerance, MilliSum } from './arithmetic.js';

/**
 * Returns the proposal of a metric with one value for the whole workload: the only series of an Object metric, or the
 * sum of all series of an External metric.
 */
export function proposeFromTotal(
  metric: ObjectMetric | ExternalMetric,
  sample: ValuesSample,
  context: ProposalContext,
): Proposal {
  const total = totalOf(metric, sample);
  const { target } = metric;
  switch (target.type) {
    case 'AverageValue': {
      const proposal = proposePerPod(total, target.milli, context);
      const capacity = capacityOf(metric, sample);
      return capacity === undefined ? proposal : { ...proposal, capacity };
    }
    case 'Value':
      return proposeFromValue(total, target.milli, context);
    case 'Utilization':
      return noProposal(`a target in percent for a metric of type ${metric.type}`);
    default:
      return target satisfies never;
  }
}

/**
 * Returns the metric with measured values: the measured capacity of a pod becomes the target, and the pod start time is
 * added to the drain time.
 */
export function inEffect(metric: MetricSpec, sample: Sample, podStartSeconds: number | null): MetricSpec {
  if ((metric.type !== 'Object' && metric.type !== 'External') || sample.form !== 'values') return metric;
  const { backlog } = metric;
  const capacity = capacityOf(metric, sample);
  const isDrainedLater = backlog !== undefined && podStartSeconds !== null;
  if (capacity === undefined && !isDrainedLater) return metric;
  return {
    ...metric,
    ...(capacity === undefined
      ? {}
      : { target: { type: 'AverageValue', milli: milliFromNumber(capacity) } as const }),
    ...(isDrainedLater ? { backlog: { ...backlog, podStartSeconds } } : {}),
  };
}

/** Returns the sum of the series, or 0 if there are none, plus the rate at which the backlog is to be processed. */
export function totalOf(metric: MetricSpec, sample: Sample): Milli {
  const sum = sumOf(sample);
  const drain = drainOf(metric, sample);
  return drain === null ? sum : addMilli(sum, drain.rate);
}

/** Returns the sum of the series, without the backlog. */
export function sumOf(sample: Sample): Milli {
  const sum = new MilliSum();
  if (sample.form === 'values') sample.values.forEach(sum.add);
  return sum.total;
}

interface Drain {
  /** The backlog divided by the time in which it is to be processed, rounded up to a milli-unit. */
  readonly rate: Milli;
  readonly backlog: Milli;
  /**
   * The time in which the backlog is to be processed, as text, with its parts if it has two: `60 s`, `(60 s + 120 s of
   * pod start)`.
   */
  readonly time: string;
}

/**
 * Returns the rate at which the backlog is to be processed, in addition to new work; null: the metric has no backlog.
 * The pod start time is added to the drain time: otherwise the backlog, which grows until new pods are ready, would add
 * pods again and again.
 */
export function drainOf(metric: MetricSpec, sample: Sample): Drain | null {
  if (metric.type !== 'Object' && metric.type !== 'External') return null;
  if (metric.backlog === undefined || sample.form !== 'values' || sample.backlog === undefined) return null;
  const backlog = milliFromNumber(sample.backlog);
  const { drainSeconds, podStartSeconds } = metric.backlog;
  const seconds = BigInt(drainSeconds + (podStartSeconds ?? 0));
  const time =
    podStartSeconds === undefined
      ? `${drainSeconds} s`
      : `(${drainSeconds} s + ${podStartSeconds} s of pod start)`;
  return { rate: (backlog + seconds - 1n) / seconds, backlog, time };
}

/** Counts the pods that are Running and Ready. As in the HPA, that includes pods that are being deleted. */
function countReadyPods(pods: readonly Pod[]): number {
  return pods.filter((pod) => pod.phase === 'Running' && pod.ready === true).length;
}

/**
 * Returns `ceil(total / target)`. The ratio is `total / (target * statusReplicas)`. Within the tolerance, the proposal
 * is specReplicas. The HPA proposes statusReplicas in that case, and so writes the surge pods of a rolling update into
 * the spec (kubernetes/kubernetes#138505, #72775). Source: replica_calculator.go, GetExternalPerPodMetricReplicas.
 */
function proposePerPod(
  total: Milli,
  target: Milli,
  { target: counts, tolerances }: ProposalContext,
): Proposal {
  const { specReplicas, statusReplicas } = counts;
  const ratio = Number(total) / (Number(target) * statusReplicas);
  const isKept = isWithinTolerance(ratio, tolerances);
  const arithmetic = arithmeticOf(total, target, { pods: 1, isKept });
  const average = statusReplicas === 0 ? 0 : Math.ceil(Number(total) / statusReplicas) / 1000;
  return {
    proposal: isKept ? specReplicas : ceilCount(Number(total) / Number(target)),
    current: { averageValue: average },
    ratio: Number.isFinite(ratio) ? ratio : null,
    error: null,
    pods: NO_PODS,
    podReasons: {},
    arithmetic,
  };
}

/**
 * Returns `ceil(ratio * number of ready pods)`, including pods that are being deleted, and `ceil(ratio)` at 0 replicas.
 * Source: replica_calculator.go, GetObjectMetricReplicas and getUsageRatioReplicaCount.
 */
function proposeFromValue(total: Milli, target: Milli, context: ProposalContext): Proposal {
  const { specReplicas } = context.target;
  const ratio = Number(total) / Number(target);
  const seen = { current: { value: milliToNumber(total) }, ratio, pods: NO_PODS, podReasons: {} };
  const proposed = (proposal: number, pods: number, isKept = false): Proposal => ({
    ...seen,
    proposal,
    error: null,
    arithmetic: arithmeticOf(total, target, { pods, isKept }),
  });
  if (specReplicas === 0) return proposed(ceilCount(ratio), 1);
  if (isWithinTolerance(ratio, context.tolerances)) return proposed(specReplicas, specReplicas, true);
  if (context.pods.length === 0) return noProposal('the selector matches no pods', seen);
  const ready = countReadyPods(context.pods);
  return proposed(ceilCount(ratio * ready), ready);
}

function arithmeticOf(
  total: Milli,
  target: Milli,
  { pods, isKept }: { readonly pods: number; readonly isKept: boolean },
): Arithmetic {
  return {
    usage: Number(total),
    filledUsage: null,
    target: Number(target),
    pods,
    keptBy: isKept ? 'tolerance' : null,
  };
}
