import { largestWrittenRangeSeconds } from '../../promql/ranges.js';
import { type Measure, measureOf, rateOfGauge } from '../../promql/measures.js';
import { milliToNumber, parseQuantity, toleranceNumber } from '../../units/quantity.js';
import { type Finding, finding, formatPath, type IsBroken, type Path } from '../problems/finding.js';
import { type QueriedMember, queriedBody } from '../resolve/metric-form.js';
import { BUILT_IN } from '../schema/presets.js';
import type { Loose, MetricInput, SpecInput } from '../schema/document-schema.js';
import { checkAmountQuery } from './query-rules.js';
import { countOf } from '../../units/format.js';

type LooseSpec = Loose<SpecInput>;

/** A metric with a query and with exactly one target. */
interface Queried {
  readonly member: QueriedMember;
  readonly path: Path;
  readonly query: string;
  readonly target: 'averageValue' | 'value';
  /** The target as the document writes it. */
  readonly written: string;
  readonly amount: number;
  readonly measure: Measure;
}

/**
 * Warns if the count that a metric proposes does not follow the need for pods. If it is unknown what a query measures,
 * there is no warning.
 */
export function checkMetricTypes(spec: LooseSpec, isBroken: IsBroken): readonly Finding[] {
  const metrics = (spec.metrics ?? []).flatMap((metric, index) => queriedOf(metric, index, isBroken));
  return [
    ...metrics.flatMap((metric) => [...checkTarget(metric, spec), ...checkRange(metric, spec)]),
    ...checkAlone(spec, metrics),
    ...checkSpeed(spec),
  ];
}

function queriedOf(
  metric: Loose<MetricInput> | undefined,
  index: number,
  isBroken: IsBroken,
): readonly Queried[] {
  const { member, body } = queriedBody(metric) ?? {};
  if (member === undefined || body?.query === undefined) return [];
  const path = ['spec', 'metrics', index, member];
  const { averageValue, value } = body.target ?? {};
  const written = averageValue ?? value;
  const milli = written === undefined ? null : parseQuantity(written);
  if (written === undefined || milli === null || milli <= 0n || isBroken([...path, 'query'])) return [];
  const target = averageValue === undefined ? 'value' : 'averageValue';
  const measure = measureOf(body.query);
  return [
    {
      member,
      path,
      query: body.query,
      target,
      written: String(written),
      amount: milliToNumber(milli),
      measure,
    },
  ];
}

/** Reports only the first problem of a target, because each problem alone explains the wrong count. */
function checkTarget(metric: Queried, spec: LooseSpec): readonly Finding[] {
  return (
    [checkGauge, checkReach, checkAverage, checkTotal]
      .map((check) => check(metric, spec))
      .find((found) => found !== null) ?? []
  );
}

type Check = (metric: Queried, spec: LooseSpec) => readonly Finding[] | null;

const checkGauge: Check = ({ path, query }) => {
  const gauge = rateOfGauge(query);
  if (gauge === null) return null;
  const queryPath = [...path, 'query'];
  const message = `${formatPath(queryPath)}: ${gauge.metric} is a gauge, and rate returns how fast a gauge changes: while the gauge stays at 500, the metric is 0. Write avg_over_time(${gauge.metric}{...}[1m])`;
  return [{ ...finding('rate-of-gauge', queryPath, message), offset: gauge.from }];
};

/** Reports a target that even the largest possible value does not exceed by more than the tolerance. */
const checkReach: Check = ({ measure, amount, path, target, written }, spec) => {
  const { kind, most, metric } = measure;
  if (kind !== 'ratio' || most === null || amount * (1 + toleranceUp(spec)) < most) return null;
  const field = [...path, 'target', target];
  const isPercent = most === 1 && amount > 1 && amount <= 90;
  const instead = isPercent
    ? `${quantityText(amount / 100)}, or multiply the query by 100`
    : quantityText(0.8 * most);
  const message = `${formatPath(field)} is ${written}, but ${metric} is at most ${decimal(most)} in this query, so the metric never scales up. Write ${instead}`;
  return [finding('never-scales-up', field, message)];
};

/**
 * Reports `averageValue` for a value that does not grow with the number of busy pods: the replicas are the value
 * divided by the target.
 */
const checkAverage: Check = ({ member, target, measure, path, written, amount }, spec) => {
  const { kind, form, most } = measure;
  const isOne = form === 'one' || (member === 'object' && (kind === 'ratio' || kind === 'latency'));
  if (target !== 'averageValue' || member === 'pods' || !isOne || kind === 'unknown') return null;
  const field = [...path, 'target', 'averageValue'];
  const what = kind === 'ratio' ? 'a ratio' : kind === 'latency' ? 'a latency' : 'an average over the pods';
  const limit =
    most === null
      ? 'a result of three times the target gives 3 pods, no matter how many pods are running'
      : `the metric proposes at most ${countOf(Math.ceil(most / amount), 'pod')} of ${spec.maxReplicas ?? 'maxReplicas'}`;
  const message = `${formatPath(field)}: the query returns ${what}. With averageValue, the replicas are the result divided by ${written}: ${limit}. Write target: { value: ${written} }, which multiplies the replicas by result / ${written}`;
  return [finding(kind === 'latency' ? 'latency-target' : 'average-as-total', field, message)];
};

/**
 * Reports `value` for a total. The ready pods are multiplied by value/target, so the value must fall when pods are
 * added, but a total does not fall.
 */
const checkTotal: Check = ({ member, target, measure, path, written }, { maxReplicas }) => {
  const { kind, form, most } = measure;
  const isTotal = form === 'total' || (member === 'external' && form === 'series');
  const isLoad = ['load', 'duration'].includes(kind) && isTotal;
  // A sum of ratios is reported only if the largest possible ratio is known: otherwise the sum may consist of one
  // series.
  const isSumOfRatios = kind === 'ratio' && form === 'total' && most !== null;
  if (target !== 'value' || !(isLoad || isSumOfRatios)) return null;
  const field = [...path, 'target', 'value'];
  const end = maxReplicas === undefined ? 'maxReplicas' : `maxReplicas (${maxReplicas})`;
  const message = `${formatPath(field)}: the query returns a total, which does not fall when pods are added. With value, each decision multiplies the replicas by result / target: at three times the target, 1 replica becomes 3, then 9, and so on up to ${end}. Write target: { averageValue: ${written} }`;
  return [finding('total-as-value', field, message)];
};

/** Reports a document whose metrics are all latencies, queues or GPU utilization: none of them measures the load. */
function checkAlone(spec: LooseSpec, metrics: readonly Queried[]): readonly Finding[] {
  const all = spec.metrics ?? [];
  const isOther = ({ measure }: Queried): boolean => !['latency', 'waiting', 'ratio'].includes(measure.kind);
  const { maxReplicas, minReplicas = BUILT_IN.minReplicas } = spec;
  if (metrics.length < all.length || metrics.some(isOther) || maxReplicas === undefined) return [];
  const waiting = metrics.find(({ measure }) => measure.kind === 'waiting');
  if (waiting !== undefined) return [ofWaiting(waiting, { minReplicas, maxReplicas })];
  const isReported = ({ target, member }: Queried): boolean => target === 'averageValue' && member !== 'pods';
  const busy = metrics.find(({ measure }) => GPU_BUSY.test(measure.metric));
  if (busy !== undefined) return isReported(busy) ? [] : [ofBusyGpu(busy)];
  const latency = metrics.find(({ measure }) => measure.kind === 'latency');
  if (latency === undefined || isReported(latency) || metrics.some(({ measure }) => measure.kind === 'ratio'))
    return [];
  const path = [...latency.path, 'query'];
  const message = `${formatPath(path)} is a latency, and the only metric. Once the pods are full, a latency grows without limit and scales up to maxReplicas (${maxReplicas}); it never falls below the duration of one request. Add the requests in progress as the first metric, such as sum(rate(http_request_duration_seconds_sum{...}[2m])) with an averageValue`;
  return [finding('latency-target', path, message)];
}

/** Metrics of the share of time in which a GPU is busy. They do not show how much load the GPU has. */
const GPU_BUSY =
  /^DCGM_FI_(?:DEV_GPU_UTIL|PROF_GR_ENGINE_ACTIVE)$|^nv_gpu_utilization$|^nvidia_smi_utilization_gpu_ratio$|_duty_cycle$/;

function ofBusyGpu({ path, measure }: Queried): Finding {
  const queryPath = [...path, 'query'];
  const message = `${formatPath(queryPath)}: ${measure.metric} is the time in which a GPU is busy, which does not show the load: a batch of one request keeps a GPU as busy as a batch of 100. Query the requests in progress (running and waiting), and set averageValue to the requests that one pod serves at a time`;
  return finding('gpu-utilization', queryPath, message);
}

/** The queue metrics of known servers, each with the server's metric of requests in progress. */
const RUNNING: readonly (readonly [RegExp, string])[] = [
  [/^(vllm[:_])num_requests_waiting$/, '$1num_requests_running'],
  [/^(sglang[:_])num_queue_reqs$/, '$1num_running_reqs'],
  [/^tgi_queue_size$/, 'tgi_batch_current_size'],
  [/^dynamo_frontend_queued_requests$/, 'dynamo_frontend_inflight_requests'],
  [/^ray_serve_deployment_queued_queries$/, 'ray_serve_replica_processing_queries'],
];

function ofWaiting(
  { path, amount, measure }: Queried,
  { minReplicas, maxReplicas }: { readonly minReplicas: number; readonly maxReplicas: number },
): Finding {
  const queryPath = [...path, 'query'];
  const { metric } = measure;
  const rule = RUNNING.find(([pattern]) => pattern.test(metric));
  const load =
    rule === undefined
      ? 'a rate of requests, such as sum(rate(REQUESTS_TOTAL{...}[1m])), with the requests per second of one pod as the averageValue'
      : `the load: sum(${metric}{...}) + sum(${metric.replace(rule[0], rule[1])}{...}), with the requests that one pod serves at a time as the averageValue`;
  const message = `${formatPath(queryPath)}: ${metric} is the depth of a queue, and no metric measures the load: ${decimal(amount * maxReplicas)} waiting requests propose ${maxReplicas === 1 ? 'the only pod' : `all ${countOf(maxReplicas, 'pod')}`}, and an empty queue proposes minReplicas (${minReplicas}) even if all pods are busy. Query ${load}`;
  return finding('queue-without-load', queryPath, message);
}

/**
 * Warns about a range that is longer than the pod start: pods could be ready before the metric shows the whole rise.
 */
function checkRange({ path, query }: Queried, { podStart }: LooseSpec): readonly Finding[] {
  const start = podStart?.seconds;
  const range = largestWrittenRangeSeconds(query);
  if (start === undefined || range <= start) return [];
  const queryPath = [...path, 'query'];
  const message = `${formatPath(queryPath)} has a range of ${range} s, longer than the ${start} s in which pods start (spec.podStart): the metric shows a rise of the load in full only after ${range} s. Write a range of at most [${start}s] and at least four scrape intervals`;
  return [finding('range-above-pod-start', queryPath, message)];
}

/** With one pod per period, a scale-up from minReplicas to maxReplicas may take this long without a warning. */
export const LONGEST_SCALE_UP_SECONDS = 900;

/**
 * Reports a policy of one pod per period if it makes a scale-up slow. The author of such a policy probably wants to
 * wait until each pod has started.
 */
function checkSpeed({
  behavior,
  minReplicas = BUILT_IN.minReplicas,
  maxReplicas,
  podStart,
}: LooseSpec): readonly Finding[] {
  const { policies = [], selectPolicy } = behavior?.scaleUp ?? {};
  const [policy] = policies;
  if (
    policies.length !== 1 ||
    policy === undefined ||
    maxReplicas === undefined ||
    selectPolicy === 'Disabled'
  )
    return [];
  const { type, value, periodSeconds } = policy;
  if (type !== 'Pods' || value !== 1 || periodSeconds === undefined) return [];
  const steps = maxReplicas - minReplicas;
  const seconds = steps * periodSeconds;
  const start = podStart?.seconds ?? 0;
  const isSlower = start > periodSeconds && steps > 1;
  if (seconds <= LONGEST_SCALE_UP_SECONDS && !isSlower) return [];
  const path = ['spec', 'behavior', 'scaleUp', 'policies', 0];
  const message = `${formatPath(path)} adds one pod per ${periodSeconds} s. Scaling from ${minReplicas} to ${countOf(maxReplicas, 'pod')} takes ${inMinutes(seconds)}, plus the start of the last pod${isSlower ? ` (${start} s, spec.podStart)` : ''}. Meanwhile, the backlog grows. Add a second policy${selectPolicy === 'Min' ? ' with selectPolicy: Max' : ''} (the larger change applies): { type: Percent, value: 100, periodSeconds: ${periodSeconds} }`;
  return [finding('slow-scale-up', path, message)];
}

function toleranceUp({ tolerance, behavior }: LooseSpec): number {
  return toleranceNumber(behavior?.scaleUp?.tolerance) ?? toleranceNumber(tolerance) ?? BUILT_IN.tolerance;
}

function inMinutes(seconds: number): string {
  return `${Math.round(seconds / 6) / 10} min`;
}

function decimal(value: number): string {
  return String(Number(value.toPrecision(6)));
}

/** Returns a quantity such as `800m`. */
function quantityText(value: number): string {
  return Number.isInteger(value) ? String(value) : `${Math.round(value * 1000)}m`;
}

/** Checks that only cpu metrics have `saturation`, and that a document with `saturation` has a pod start time. */
export function checkSaturation(
  { metrics = [], podStart }: Loose<SpecInput>,
  isBroken: IsBroken,
  isMetricsql: boolean,
): readonly Finding[] {
  return metrics.flatMap((metric, index): readonly Finding[] => {
    const { name, saturation } = metric?.resource ?? {};
    if (saturation === undefined) return [];
    const path = ['spec', 'metrics', index, 'resource', 'saturation'];
    const queryPath = [...path, 'served', 'query'];
    const shown = formatPath(path);
    const findings = checkAmountQuery(saturation.served?.query, queryPath, { hasObject: false, isMetricsql });
    if (name === 'memory') {
      const message = `${shown} is supported only for cpu: a pod at its memory limit is killed, so its memory usage never hides load`;
      return [...findings, { ...finding('contradicting-type', path, message), at: 'key' }];
    }
    if (podStart !== undefined || isBroken(['spec', 'podStart'])) return findings;
    const message = `spec.podStart is missing: ${shown} scales up once usage has been at the limits for half of the pod start time. Write podStart: {} to measure this time from the pods`;
    return [...findings, finding('missing-field', ['spec', 'podStart'], message)];
  });
}
