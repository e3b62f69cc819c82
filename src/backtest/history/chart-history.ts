import { type Snapshot, isAlive } from '../../decision/snapshot/snapshot.js';
import { largestWrittenRangeSeconds } from '../../promql/ranges.js';
import { isCpu, isMemory, isOfResource, isOfTotal, type MetricSpec, type Scaler } from '../../scaler/spec.js';
import { DEFAULT_SCRAPE_INTERVAL_SECONDS, PERIODS_BEFORE_GAP, windowOfInterval } from '../../units/bounds.js';
import { milliToNumber } from '../../units/quantity.js';
import { addSeconds, type Instant, instantFromMs, secondsBetween } from '../../units/time.js';
import { BacktestError } from '../compare/variant.js';
import type { CountStep } from '../simulation/count-steps.js';
import { CONTAINER } from '../simulation/samples.js';
import { podStartOf } from '../simulation/settings.js';
import { historyInput } from './history-input.js';
import { cpuCapacity, type History, type MetricHistory, metricHistory, sumOf } from './history-models.js';
import { type Column, medianOf, recordedRun } from './columns.js';
import { warmUpOf } from './warm-up.js';

type Values = readonly (number | null)[];

/** The points of the charts of a scaler as columns of equal length. Null: the value is unknown. */
export interface ChartPoints {
  /** Unix times in seconds, ascending. */
  readonly at: readonly number[];
  readonly currentReplicas: Values;
  readonly readyPods: Values;
  /** The values of the metrics of the snapshot's document, in the unit of the target. */
  readonly metrics: readonly { readonly type: string; readonly metric: string; readonly value: Values }[];
}

interface ChartInput {
  readonly points: ChartPoints;
  /** Seconds between the oldest points, which are coarser than the rounds. */
  readonly coarseSeconds: number;
  /** A snapshot of the recorded document. The simulated pods have the requests of its pods. */
  readonly snapshot: Snapshot;
  readonly scalers: readonly Scaler[];
  /** Returns the metric of the recorded document with the same queries; undefined: there is none. */
  readonly recordedMetric: (metric: MetricSpec) => MetricSpec | undefined;
  readonly range: { readonly start: Instant; readonly end: Instant };
}

type ChartBacktest = ReturnType<typeof historyInput> & {
  /** The metric from which the needed pods are computed. */
  readonly loadMetric: MetricSpec;
  /** Null: the figures about the demand mean nothing. */
  readonly need: Need | null;
};

/** The load per pod, in base units, from which the needed pods are computed. */
export interface Need {
  readonly perPod: number;
  /**
   * `capacity`: the load that one pod can serve. `target`: the target of the recorded document with its tolerance,
   * because the points do not show at which load a pod is saturated.
   */
  readonly by: 'capacity' | 'target';
}

/**
 * Returns the input of a back-test from the points of the charts, which have the mean of the pods instead of their sum.
 * Throws `BacktestError` if the points have no values of the metric with the load.
 */
export function chartBacktest(input: ChartInput): ChartBacktest {
  const { points, snapshot, scalers, recordedMetric, range: shown } = input;
  const { metrics, syncPeriodSeconds } = snapshot.scaler.spec;
  const loadMetric = metrics.find(isCpu) ?? metrics.find((one) => !isMemory(one)) ?? metrics[0];
  if (loadMetric === undefined) throw new BacktestError('the document has no metric');
  const resample = resampling(input);
  const requests = meanRequests(snapshot);
  const peakPercent = Math.max(100, ...columnsOf(points, loadMetric).map((percent) => percent ?? 0));
  const usageAtCapacityPercent =
    isCpu(loadMetric) && loadMetric.target.type === 'Utilization' ? peakPercent : 100;
  const known = { ...cpuOf(snapshot, requests), usageAtCapacityPercent };
  const scrapeIntervalSeconds = scrapeSecondsOf(snapshot);
  const histories = new Map<MetricSpec, MetricHistory | null>(
    metrics.map((metric) => {
      const column = resample(loadOf(metric, points, requests), false);
      if (column.values.every(Number.isNaN)) return [metric, null];
      const query = 'query' in metric ? metric.query : '';
      const windowSeconds = windowOf(metric, { snapshot, query, scrapeIntervalSeconds });
      const saturation = cpuCapacity(metric, known);
      return [
        metric,
        metricHistory(metric, column, { query, windowSeconds, scrapeIntervalSeconds, saturation }),
      ];
    }),
  );
  const load = histories.get(loadMetric) ?? null;
  if (load === null) throw new BacktestError(`metric ${loadMetric.identity}: the charts have no values`);
  const warmUpSeconds = warmUpOf(scalers, syncPeriodSeconds);
  const range = { ...shown, stepSeconds: syncPeriodSeconds, warmUpSeconds };
  const counts = {
    replicas: resample(points.currentReplicas, true),
    ready: resample(points.readyPods, true),
    // A round reads the replicas before it changes them. A pod becomes ready between two rounds.
    lateSeconds: { replicas: syncPeriodSeconds, ready: syncPeriodSeconds / 2 },
  };
  const ran = recordedRun(counts, range);
  const begin = addSeconds(range.start, -warmUpSeconds);
  const need = needOf(snapshot.scaler, loadMetric, { requests, ...known });
  const history: History = {
    metricOf: (_, metric) => histories.get(recordedMetric(metric) ?? metric) ?? null,
    ceilingOf: () => null,
    requests,
    replicas: recordedRun(counts, { ...range, start: begin })?.replicas ?? NO_COUNTS,
    syncPeriodSeconds,
  };
  const podStartSeconds = snapshot.podStartSeconds ?? medianStart(snapshot);
  const given = {
    // With an unlimited capacity, one pod is enough at all times.
    capacity: need?.perPod ?? Infinity,
    podStart: podStartSeconds === null ? null : podStartOf(podStartSeconds),
    scrapeIntervalSeconds,
    resourceWindowSeconds: windowOfInterval(scrapeIntervalSeconds),
    usageAtCapacityPercent,
    initialReplicas: null,
    pricePerPodHour: null,
    queue: null,
    maxReplicasFrom: null,
    measures: new Map<string, string>(),
  };
  const recorded = { history, load, loadMetric, podStartSeconds, ran };
  return { ...historyInput(recorded, { given, range }), loadMetric, need };
}

/**
 * Returns the load per pod from which the needed pods are computed; null: the load is not divided among the pods. The
 * capacity of a pod is its CPU limit or, if no pod has used more, its CPU request. Otherwise, the target is used. The
 * highest load per pod in the points is not used: with it, a scaler at its maximum would never lack pods.
 */
function needOf(
  { spec }: Scaler,
  metric: MetricSpec,
  {
    requests,
    cpuLimit,
    cpuRequest,
    usageAtCapacityPercent,
  }: ReturnType<typeof cpuOf> & {
    readonly requests: History['requests'];
    readonly usageAtCapacityPercent: number;
  },
): Need | null {
  const { target } = metric;
  if (isMemory(metric) || target.type === 'Value') return null;
  const capacity = isCpu(metric) ? (cpuLimit ?? (usageAtCapacityPercent > 100 ? null : cpuRequest)) : null;
  if (capacity !== null) return { perPod: capacity, by: 'capacity' };
  const percent = requestOf(metric, requests);
  const wanted =
    target.type === 'AverageValue'
      ? milliToNumber(target.milli)
      : percent === null
        ? null
        : target.percent * percent;
  const tolerance = spec.behavior?.scaleUp.tolerance ?? spec.tolerance;
  return wanted === null ? null : { perPod: wanted * (1 + tolerance), by: 'target' };
}

const NO_COUNTS: readonly CountStep[] = [];

function columnsOf({ metrics }: ChartPoints, { type, identity }: MetricSpec): Values {
  return metrics.find((one) => one.type === type && one.metric === identity)?.value ?? [];
}

/**
 * Returns the total of all pods in base units at each point, or for memory the mean of a pod. Null: the value or the
 * request is unknown, or there are no ready pods.
 */
function loadOf(metric: MetricSpec, points: ChartPoints, requests: History['requests']): Values {
  const values = columnsOf(points, metric);
  const unit = metric.target.type === 'Utilization' ? requestOf(metric, requests) : 1;
  const isTotal = isMemory(metric) || metric.target.type === 'Value';
  const pods = isOfTotal(metric) ? points.currentReplicas : points.readyPods;
  return points.at.map((_, index) => {
    const value = values[index] ?? null;
    const count = isTotal ? 1 : (pods[index] ?? 0);
    return value === null || unit === null || count === 0 ? null : value * unit * count;
  });
}

/** Returns one percent of the request of a pod; null: it is unknown. */
function requestOf(metric: MetricSpec, requests: History['requests']): number | null {
  const byContainer = requests.get(metric.name) ?? new Map<string, number>();
  if (metric.type === 'ContainerResource') {
    const request = byContainer.get(metric.container);
    return request === undefined ? null : request / 100;
  }
  return byContainer.size === 0 ? null : sumOf(byContainer) / 100;
}

/**
 * Returns the mean request of a pod by resource and container. A request of the whole pod is assigned to `CONTAINER`.
 */
function meanRequests({ pods }: Snapshot): History['requests'] {
  const alive = pods.filter(isAlive);
  const sums = new Map<string, Map<string, number>>();
  const add = (resource: string, container: string, milli: bigint): void => {
    const of = sums.get(resource) ?? new Map<string, number>();
    const share = milliToNumber(milli) / alive.length;
    sums.set(resource, of.set(container, (of.get(container) ?? 0) + share));
  };
  for (const { requests, podRequests } of alive) {
    for (const [resource, milli] of podRequests ?? []) add(resource, CONTAINER, milli);
    for (const [container, resources] of requests)
      for (const [resource, milli] of resources)
        if (podRequests?.has(resource) !== true) add(resource, container, milli);
  }
  return sums;
}

function cpuOf(
  { pods }: Snapshot,
  requests: History['requests'],
): { readonly cpuLimit: number | null; readonly cpuRequest: number | null } {
  const cpu = requests.get('cpu');
  const limits = pods.map(({ cpuLimit }) => cpuLimit ?? null).filter((limit) => limit !== null);
  return {
    cpuLimit: limits.length === 0 || limits.length < pods.length ? null : milliToNumber(limits[0] ?? 0n),
    cpuRequest: cpu === undefined ? null : sumOf(cpu),
  };
}

function scrapeSecondsOf({ samples }: Snapshot): number {
  for (const sample of samples)
    if (sample.form === 'containers' && typeof sample.learnedIntervalSeconds === 'number')
      return sample.learnedIntervalSeconds;
  return DEFAULT_SCRAPE_INTERVAL_SECONDS;
}

function windowOf(
  metric: MetricSpec,
  {
    snapshot: { scaler, samples },
    query,
    scrapeIntervalSeconds,
  }: { readonly snapshot: Snapshot; readonly query: string; readonly scrapeIntervalSeconds: number },
): number {
  if (!isOfResource(metric)) return largestWrittenRangeSeconds(query);
  const sample = samples[scaler.spec.metrics.indexOf(metric)];
  if (sample?.form === 'containers') return sample.windowSeconds;
  return isMemory(metric) ? 0 : windowOfInterval(scrapeIntervalSeconds);
}

/** A pod that took longer was probably ready before and has restarted. */
const LONGEST_START_SECONDS = 3600;

/** Returns the median time from the start of a pod until it was ready; null: no pod of the snapshot shows this time. */
function medianStart({ pods }: Snapshot): number | null {
  const seconds = pods
    .flatMap(({ startTime, ready, readyChangedAt }) =>
      ready === true && startTime !== null && readyChangedAt !== null
        ? [secondsBetween(startTime, readyChangedAt)]
        : [],
    )
    .filter((one) => one >= 0 && one < LONGEST_START_SECONDS);
  return medianOf({ values: Float64Array.from(seconds) });
}

/**
 * Returns a function that converts values at the points to a value for each sync period. Between two points, a load is
 * interpolated, and a count stays. In a gap, a value applies for half a period. Between two equal points there is no
 * gap, because the service removes points between equal points.
 */
function resampling({
  points,
  coarseSeconds,
  snapshot,
}: ChartInput): (values: Values, isStepped: boolean) => Column {
  const { at } = points;
  const stepSeconds = snapshot.scaler.spec.syncPeriodSeconds;
  const first = at[0] ?? 0;
  const steps = Math.floor(((at.at(-1) ?? first) - first) / stepSeconds) + 1;
  const isBeforeGap = findGaps(points, { coarseSeconds, periodSeconds: stepSeconds });
  return (values, isStepped) => {
    let index = 0;
    const valueAt = (second: number): number => {
      while ((at[index + 1] ?? Infinity) <= second) index += 1;
      const [from = first, to = Infinity] = [at[index], at[index + 1]];
      const [value, next] = [values[index] ?? NaN, values[index + 1] ?? NaN];
      if (second === from || isStepped) return value;
      if (Number.isNaN(value + next) || isBeforeGap[index] === true) {
        if (second - from < stepSeconds / 2) return value;
        return to - second <= stepSeconds / 2 ? next : NaN;
      }
      return value + ((next - value) * (second - from)) / (to - from);
    };
    return {
      start: instantFromMs(first * 1000),
      stepSeconds,
      values: Float64Array.from({ length: steps }, (_, step) => valueAt(first + step * stepSeconds)),
    };
  };
}

/**
 * Returns for each point whether the time until the next point is a gap. Older points may be thinned to one per
 * `coarseSeconds`. This applies until the first pair of points at most `PERIODS_BEFORE_GAP` sync periods apart; from
 * then on, the points have the sync period.
 */
function findGaps(
  { at, metrics, ...counts }: ChartPoints,
  { coarseSeconds, periodSeconds }: { readonly coarseSeconds: number; readonly periodSeconds: number },
): readonly boolean[] {
  const columns = [counts.currentReplicas, counts.readyPods, ...metrics.map(({ value }) => value)];
  const near = PERIODS_BEFORE_GAP * periodSeconds;
  let isFine = false;
  return at.map((second, index) => {
    const next = at[index + 1];
    if (next === undefined) return false;
    isFine ||= next - second <= near;
    const most = isFine ? near : Math.max(near, PERIODS_BEFORE_GAP * coarseSeconds);
    return next - second > most && columns.some((column) => column[index] !== column[index + 1]);
  });
}
