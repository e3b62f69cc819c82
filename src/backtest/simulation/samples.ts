import { type Load, lastAtOrBefore } from './load.js';
import { countAt, type CountStep, visitCounts } from './count-steps.js';
import { parseMeasure } from './settings.js';
import type { Queue } from './queue.js';
import { errorSample } from '../../decision/snapshot/judge-sample.js';
import type {
  ContainersSample,
  MeasuredCapacity,
  Sample,
  Pod,
  ValuesSample,
} from '../../decision/snapshot/snapshot.js';
import { type ExternalMetric, isOfTotal, type MetricSpec, type ObjectMetric } from '../../scaler/spec.js';
import { milliToNumber } from '../../units/quantity.js';
import { addSeconds, type Instant, latest } from '../../units/time.js';

/** The load that a metric depends on, and the window of its query. */
interface Measured<L> {
  readonly load: L;
  /**
   * `present`: the load at each time, as in a trace, to which the window is not applied yet. `mean`: the recorded
   * result of the query, which is already a mean over the window before each time.
   */
  readonly loadIs: 'present' | 'mean';
  /** The window of the query in seconds; 0: the query reads the newest sample only. */
  readonly windowSeconds: number;
  /** Seconds before the newest sample over which the value is a mean: the window, or less for a rate. */
  readonly spanSeconds: number;
}

/**
 * Returns the mean time between the first and the last sample in a window, over which `rate` is a mean: the window
 * minus one scrape interval. 0: the window rarely contains two samples.
 */
export function spanOfRate(windowSeconds: number, scrapeIntervalSeconds: number): number {
  if (windowSeconds <= scrapeIntervalSeconds) return 0;
  return Math.max(windowSeconds - scrapeIntervalSeconds, scrapeIntervalSeconds);
}

/**
 * How a metric of the document depends on the load.
 * `share`: the load is divided among the ready pods, and each serves at most `saturation`.
 * `total`: the value is the load, whatever the number of pods.
 * `measured`: the value is what an exporter measures of the queue. If the metric is per pod, the value is divided among
 * the ready pods.
 * `constant`: each pod has a value that does not depend on the number of pods.
 */
export type MetricModel<L = Load> =
  ShareModel<L> | TotalModel<L> | MeasuredModel<L> | { readonly kind: 'constant'; readonly load: L };

interface TotalModel<L> extends Measured<L> {
  readonly kind: 'total';
}

interface MeasuredModel<L = Load> extends Measured<L> {
  readonly kind: 'measured';
  /** What the metric measures; must be valid for `parseMeasure`. */
  readonly expression: string;
}

export interface ShareModel<L = Load> extends Measured<L> {
  readonly kind: 'share';
  /** The largest load of one pod, above which its usage does not rise; null: there is no limit. */
  readonly saturation: number | null;
  /** The value of the metric, in base units, for one unit of load. */
  readonly unitsPerLoad: number;
  /** Whether the increase of a counter is divided by the whole window, even for a younger pod. */
  readonly isRate: boolean;
}

interface SampleContext extends ShareContext {
  readonly queue: Queue | null;
}

export const NO_DATA = 'the history has no value at this time';

/** Returns the sample of a metric. The newest raw sample is half a scrape interval old, which is its average age. */
export function takeSample(
  metric: MetricSpec,
  model: MetricModel,
  known: Omit<SampleContext, 'measuredAt'>,
): Sample {
  const context = { ...known, measuredAt: addSeconds(known.now, -known.scrapeIntervalSeconds / 2) };
  if (isOfTotal(metric)) {
    const value = totalOf(model, context);
    const parts = partsOf(metric, context);
    return value === null || parts === null
      ? errorSample('missing', NO_DATA)
      : { form: 'values', at: context.now, values: [value], ...parts, partial: null };
  }
  const byPod = valuesByPod(model, context);
  if (byPod.size === 0) return errorSample('missing', NO_DATA);
  const pods = [...byPod.keys()];
  const values = [...byPod.values()];
  const windowSeconds = model.kind === 'constant' ? 0 : model.windowSeconds;
  if (metric.type === 'Pods')
    return { form: 'pods', at: context.now, windowSeconds, pods, values, partial: null };
  const container = metric.type === 'ContainerResource' ? metric.container : CONTAINER;
  return {
    form: 'containers',
    at: addSeconds(context.now, -context.scrapeIntervalSeconds),
    windowSeconds,
    pods,
    starts: [...pods.keys(), pods.length],
    containers: pods.map(() => container),
    values,
    ...servedOf(metric, model, values),
    partial: null,
  };
}

/**
 * Returns the backlog, and the capacity of a pod; null: a backlog is needed, but the depth of the queue is unknown.
 * Without a queue, the backlog is 0, and the capacity of a pod is the target.
 */
function partsOf(
  { backlog, capacityQuery, autoCapacity, target }: ObjectMetric | ExternalMetric,
  { queue, measuredAt }: SampleContext,
): Pick<ValuesSample, 'backlog' | 'capacity' | 'measuredCapacity'> | null {
  const depth = queue === null ? 0 : queue.read('depth', measuredAt, measuredAt);
  if (backlog !== undefined && depth === null) return null;
  const ofBacklog = backlog === undefined || depth === null ? {} : { backlog: depth };
  if (target.type === 'Utilization') return ofBacklog;
  const capacity = queue?.capacity ?? milliToNumber(target.milli);
  return {
    ...ofBacklog,
    ...(capacityQuery === undefined ? {} : { capacity }),
    ...(autoCapacity === undefined ? {} : { measuredCapacity: sameEachDay(capacity, measuredAt) }),
  };
}

/** Returns a measured capacity that is the same on all days. */
export function sameEachDay(capacity: number, at: Instant): MeasuredCapacity {
  return { value: capacity, low: capacity, high: capacity, days: 3, at };
}

/** Returns the load per second that all ready pods together served, if the document has a `saturation` step. */
function servedOf(
  metric: MetricSpec,
  model: MetricModel,
  values: readonly number[],
): Pick<ContainersSample, 'served'> {
  if (metric.type !== 'Resource' || metric.saturation === undefined || model.kind !== 'share') return {};
  return { served: values.reduce((sum, value) => sum + value, 0) / model.unitsPerLoad };
}

/** The container of a simulated pod if no metric names one. */
export const CONTAINER = 'app';

function totalOf(model: MetricModel, context: SampleContext): number | null {
  const { now, measuredAt } = context;
  if (model.kind === 'measured') return measuredValue(model, context);
  if (model.kind === 'constant' || model.loadIs === 'mean') return model.load.at(now);
  return model.load.mean(addSeconds(measuredAt, -model.spanSeconds), measuredAt);
}

function valuesByPod(model: MetricModel, context: SampleContext): ReadonlyMap<string, number> {
  if (model.kind === 'share') return shareValues(model, context);
  if (model.kind === 'measured') {
    const ready = context.pods.filter((pod) => pod.ready === true);
    const total = measuredValue(model, context);
    return new Map(total === null ? [] : ready.map(({ name }) => [name, total / ready.length]));
  }
  const value = model.load.at(context.now);
  return value === null ? new Map() : new Map(context.pods.map(({ name }) => [name, value]));
}

function measuredValue(
  { expression, spanSeconds }: MeasuredModel,
  { queue, measuredAt }: SampleContext,
): number | null {
  const evaluate = parseMeasure(expression);
  if (typeof evaluate === 'string') throw new Error(`${expression} ${evaluate}`);
  const from = addSeconds(measuredAt, -spanSeconds);
  return evaluate((measure) => queue?.read(measure, from, measuredAt) ?? null);
}

export interface ShareContext {
  readonly now: Instant;
  /** The time of the newest raw sample. */
  readonly measuredAt: Instant;
  readonly scrapeIntervalSeconds: number;
  readonly pods: readonly Pod[];
  /** The load that a ready pod has served; null: the load of the model is already a mean. */
  readonly shares: ShareCurve | null;
  readonly ready: readonly CountStep[];
}

/** Returns the value of each ready pod in base units. Pods that are not ready serve nothing. */
export function shareValues(model: ShareModel, context: ShareContext): ReadonlyMap<string, number> {
  const { measuredAt, pods } = context;
  // A pod that was ready during the whole span has the mean load of the whole span.
  const spanStart = addSeconds(measuredAt, -model.spanSeconds);
  const meanSince = meanOf(model, context);
  const values = new Map<string, number>();
  const known = new Map<Instant, number | null>();
  for (const pod of pods) {
    if (pod.ready !== true) continue;
    const since = latest(pod.readyChangedAt ?? spanStart, spanStart);
    let value = known.get(since);
    if (value === undefined) {
      value = meanSince(since);
      if (value !== null && since !== spanStart) value *= shareOfWindow(model, since, context);
      known.set(since, value);
    }
    if (value !== null) values.set(pod.name, value * model.unitsPerLoad);
  }
  return values;
}

/**
 * Returns the share of the window for which a pod that became ready within the window has values; 1 if the value is not
 * a rate. Like `rate`, extrapolates to half a scrape interval before the first sample.
 */
function shareOfWindow(
  { isRate, windowSeconds, spanSeconds }: ShareModel,
  since: Instant,
  { measuredAt, scrapeIntervalSeconds }: ShareContext,
): number {
  if (!isRate) return 1;
  const extrapolated = spanSeconds < windowSeconds ? scrapeIntervalSeconds / 2 : 0;
  const seconds = Math.max(0, measuredAt - since) / 1000 + extrapolated;
  return Math.min(1, seconds / windowSeconds);
}

/** Returns a function for the mean load of a ready pod since a time; null: the load is unknown. */
function meanOf(
  { load, loadIs, saturation }: ShareModel,
  { now, measuredAt, shares, ready }: ShareContext,
): (since: Instant) => number | null {
  if (loadIs === 'present')
    return (since) =>
      shares?.mean(since < measuredAt ? since : addSeconds(measuredAt, -1), measuredAt) ?? null;
  const observed = load.at(now);
  const most = saturation ?? Infinity;
  const shareOf = (count: number): number => (count === 0 ? 0 : Math.min((observed ?? 0) / count, most));
  return (since) => {
    if (observed === null) return null;
    if (since >= measuredAt) return shareOf(countAt(ready, measuredAt));
    let area = 0;
    visitCounts(ready, { from: since, to: measuredAt }, (count, milliseconds) => {
      area += shareOf(count) * milliseconds;
    });
    return area / (measuredAt - since);
  };
}

/** Records the load that one ready pod serves during the simulation. */
export interface ShareCurve {
  /** Adds the value from the end of the last interval until `to`; null: unknown. */
  readonly add: (to: Instant, value: number | null) => void;
  /** Returns the mean of the known values between two recorded times; null: there are none. */
  readonly mean: (from: Instant, to: Instant) => number | null;
}

const FIRST_SIZE = 1024;

export function createShareCurve(start: Instant): ShareCurve {
  let times = new Float64Array(FIRST_SIZE);
  let areas = new Float64Array(FIRST_SIZE);
  let known = new Float64Array(FIRST_SIZE);
  let length = 1;
  times[0] = start;

  const grow = (): void => {
    times = copyOf(times, length * 2);
    areas = copyOf(areas, length * 2);
    known = copyOf(known, length * 2);
  };

  const interpolated = (column: Float64Array, time: number): number => {
    const index = Math.max(0, lastAtOrBefore(times, time, length));
    const value = column[index] ?? 0;
    if (index + 1 >= length) return value;
    const from = times[index] ?? 0;
    const share = (Math.max(time, from) - from) / ((times[index + 1] ?? 0) - from);
    return value + ((column[index + 1] ?? 0) - value) * share;
  };

  return {
    add: (to, value) => {
      const last = length - 1;
      const lengthMs = to - (times[last] ?? 0);
      if (lengthMs <= 0) return;
      if (length === times.length) grow();
      times[length] = to;
      areas[length] = (areas[last] ?? 0) + (value ?? 0) * lengthMs;
      known[length] = (known[last] ?? 0) + (value === null ? 0 : lengthMs);
      length += 1;
    },
    mean: (from, to) => {
      const knownMs = interpolated(known, to) - interpolated(known, from);
      // Less than 0.5 ms of known values is a rounding error of the interpolation.
      return knownMs < 0.5 ? null : (interpolated(areas, to) - interpolated(areas, from)) / knownMs;
    },
  };
}

function copyOf(column: Float64Array, size: number): Float64Array<ArrayBuffer> {
  const copy = new Float64Array(size);
  copy.set(column);
  return copy;
}
