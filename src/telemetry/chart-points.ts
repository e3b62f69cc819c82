import { type ExpectedLoad, expectLoad } from '../decision/forecast/propose-forecast.js';
import { countReady } from '../decision/snapshot/snapshot.js';
import type { MetricSpec, Scaler } from '../scaler/spec.js';
import { PERIODS_BEFORE_GAP } from '../units/bounds.js';
import { addSeconds, type Instant, instantFromMs } from '../units/time.js';
import { boundsOf, type CycleRecord, desiredReplicasOf } from './cycle-record.js';
import { bytesPerPoint, type Point, PointRing } from './point-ring.js';
import { currentValue, targetValue } from './scaler-series.js';

/** The counts of a point, in this order. */
export const COUNT_COLUMNS = [
  'currentReplicas',
  'desiredReplicas',
  'recommendedReplicas',
  'minReplicas',
  'maxReplicas',
  'readyPods',
] as const;

/**
 * The values of a forecast in a point, in this order: the load at the time of the point, and the load that was expected
 * for that time.
 */
const FORECAST_COLUMNS = ['load', 'low', 'expected', 'high'] as const;

/**
 * The points of one scaler, oldest first. The `values` of a point are the value and the target of each metric, in the
 * order of `metrics`. If there is a forecast, the `FORECAST_COLUMNS` follow.
 */
export interface ScalerPoints {
  readonly scaler: Scaler;
  readonly metrics: readonly MetricSpec[];
  readonly points: readonly Point[];
  /** The time of the oldest stored point, which may be outside of the range. */
  readonly keptFrom: Instant | null;
}

/** The replica counts and metrics of all scalers in the last hours, for charts. */
export interface ChartPoints {
  readonly add: (record: CycleRecord) => void;
  readonly remove: (key: string) => void;
  /** Returns the points of `NAMESPACE/NAME`; null: the scaler is unknown. */
  readonly read: (key: string, range: PointRange) => ScalerPoints | null;
  /**
   * Returns the current replicas at the end of each of the last `steps` steps before `until`, oldest first. An element
   * is null if the count is unknown. Fast enough for a list of all scalers.
   */
  readonly recentReplicas: (key: string, range: RecentRange) => readonly (number | null)[];
}

export interface RecentRange {
  readonly until: Instant;
  readonly stepSeconds: number;
  readonly steps: number;
}

interface PointRange {
  /** The time of the first point; null: all points are returned. */
  readonly since: Instant | null;
  /** Maximum number of points. The newest points are returned. */
  readonly limit: number;
  /** The step of the points; null: as stored. */
  readonly stepSeconds: number | null;
}

interface PointLimits {
  /** Memory for all scalers. They share it equally, but each has at least 60 points. Default: 4 MiB. */
  readonly totalBytes?: number;
  /** Number of points per scaler with one point per cycle. Default: 480, which is two hours at 15 s. */
  readonly fine?: number;
  /** Number of older points, one per five minutes. Default: 288, which is one day. */
  readonly coarse?: number;
}

const MIN_POINTS = 60;
const COARSE_SECONDS = 300;
const MINUTE_MS = 60_000;

interface Series {
  readonly metrics: readonly MetricSpec[];
  readonly identities: string;
  readonly fine: PointRing;
  readonly coarse: PointRing;
  scaler: Scaler;
  /** Targets of the metrics of `scaler`. */
  targets: readonly number[];
  /** The current step of five minutes; null: there is no point yet. */
  bucket: Bucket | null;
  /** The expected loads by time: first the newest load that is not in the future, then the loads of the future. */
  expected: readonly (ExpectedLoad & { readonly at: Instant })[];
}

interface RingSizes {
  readonly fine: number;
  readonly coarse: number;
}

interface NextPoint {
  at: Instant;
  readonly counts: (number | null)[];
  readonly values: (number | null)[];
}

export function createChartPoints(limits: PointLimits = {}): ChartPoints {
  const { totalBytes = 4 * 1024 * 1024, fine = 480, coarse = 288 } = limits;
  const all = new Map<string, Series>();
  /** All cycles share one object, because rings and buckets keep copies. */
  const next: NextPoint = { at: instantFromMs(0), counts: [], values: [] };
  /** The sizes of rings for the current number of scalers, by the number of values in a point. */
  let sizesByValues: (RingSizes | undefined)[] = [];
  const sizesFor = (values: number): RingSizes => {
    const each = totalBytes / Math.max(1, all.size) / bytesPerPoint(COUNT_COLUMNS.length, values);
    const points = Math.max(MIN_POINTS, Math.min(fine + coarse, each));
    const share = fine / (fine + coarse);
    return { fine: Math.floor(points * share), coarse: Math.floor(points * (1 - share)) };
  };
  return {
    add: (record) => {
      const { key } = record.scaler;
      const before = all.get(key) ?? null;
      const series = continueSeries(before, record.scaler);
      if (series !== before) all.set(key, series);
      if (before === null) sizesByValues = [];
      const values = valueCount(record.scaler);
      const sizes = (sizesByValues[values] ??= sizesFor(values));
      const point = fillPoint(next, record, series);
      addCoarse(series, point, sizes.coarse);
      addFine(series, point, sizes.fine);
    },
    remove: (key) => {
      all.delete(key);
      sizesByValues = [];
    },
    read: (key, range) => {
      const series = all.get(key);
      return series === undefined ? null : readSeries(series, range);
    },
    recentReplicas: (key, range) => {
      const series = all.get(key);
      return recentCounts(series === undefined ? [] : [series.coarse, series.fine], range);
    },
  };
}

/** Returns the series of a scaler: a new one with only the counts if the metrics of its document have changed. */
function continueSeries(before: Series | null, scaler: Scaler): Series {
  if (before?.scaler === scaler) return before;
  const { metrics, forecast } = scaler.spec;
  const identities = JSON.stringify([
    forecast?.metric,
    metrics.map(({ type, identity, target }) => [type, identity, target.type]),
  ]);
  if (before?.identities === identities) {
    before.scaler = scaler;
    before.targets = metrics.map((spec) => targetValue(spec));
    return before;
  }
  const next: Series = {
    metrics,
    identities,
    fine: new PointRing(COUNT_COLUMNS.length, valueCount(scaler)),
    coarse: new PointRing(COUNT_COLUMNS.length, valueCount(scaler)),
    scaler,
    targets: metrics.map((spec) => targetValue(spec)),
    bucket: null,
    expected: [],
  };
  if (before !== null) copyCounts(before, next);
  return next;
}

function valueCount({ spec: { metrics, forecast } }: Scaler): number {
  return 2 * metrics.length + (forecast === null ? 0 : FORECAST_COLUMNS.length);
}

/** Copies the counts. The values are not copied, because they belong to the metrics of the previous document. */
function copyCounts(before: Series, next: Series): void {
  const values = Array.from({ length: valueCount(next.scaler) }, () => null);
  for (const ring of ['fine', 'coarse'] as const) {
    const size = before[ring].size();
    for (let index = 0; index < size; index += 1) {
      const point = before[ring].get(index);
      if (point !== null) next[ring].push({ ...point, values }, size);
    }
  }
}

function fillPoint(next: NextPoint, record: CycleRecord, series: Series): Point {
  const { at, decision } = record;
  const { metrics, targets } = series;
  next.at = at;
  fillCounts(next.counts, record);
  next.values.length = valueCount(record.scaler);
  let index = 0;
  for (const spec of metrics) {
    next.values[2 * index] = currentValue(spec, decision?.metrics[index]);
    next.values[2 * index + 1] = decision?.metrics[index]?.capacity ?? targets[index] ?? null;
    index += 1;
  }
  if (record.scaler.spec.forecast !== null) fillForecast(next.values, record, series);
  return next;
}

/** Sets the values of the forecast, after the values of the metrics, in the order of `FORECAST_COLUMNS`. */
function fillForecast(
  values: (number | null)[],
  { at, decision, snapshot, scaler }: CycleRecord,
  series: Series,
): void {
  const { minutes = [] } = decision?.state.forecast ?? {};
  const { forecast } = scaler.spec;
  const history = snapshot?.loadHistory;
  const first = values.length - FORECAST_COLUMNS.length;
  const last = minutes.at(-1);
  values[first] = last === undefined || at - last.at >= MINUTE_MS ? null : last.sum / last.count;
  const now = series.expected.findLastIndex((one) => one.at <= at);
  const known = series.expected[now];
  const isOld = known === undefined || at - known.at > 2 * MINUTE_MS + 1000 * scaler.spec.syncPeriodSeconds;
  values[first + 1] = isOld ? null : known.low;
  values[first + 2] = isOld ? null : known.expected;
  values[first + 3] = isOld ? null : known.high;
  if (forecast === null || history === undefined) return;
  const time = addSeconds(at, history.leadSeconds);
  const newest = series.expected.at(-1)?.at ?? -Infinity;
  if (Math.abs(time - newest) < MINUTE_MS) return;
  const next = expectLoad({ forecast, history, minutes });
  // Entries at or after `time` exist if the clock was set back, or if the lead time has become shorter.
  const kept = series.expected.slice(Math.max(0, now)).filter((one) => one.at < time);
  series.expected = next === null ? kept : [...kept, { ...next, at: time }];
}

/** Sets the counts in the order of `COUNT_COLUMNS`. A loop over the columns would be much slower. */
function fillCounts(counts: (number | null)[], record: CycleRecord): void {
  const { decision, snapshot } = record;
  const { minReplicas, maxReplicas } = boundsOf(record);
  counts[0] = decision === null ? null : decision.currentReplicas;
  counts[1] = desiredReplicasOf(record);
  counts[2] = decision === null ? null : decision.recommendedReplicas;
  counts[3] = minReplicas;
  counts[4] = maxReplicas;
  counts[5] = snapshot === null ? null : countReady(snapshot.pods);
}

/** Adds a point. Only the first and the last of consecutive equal points are kept: the chart is the same. */
function addFine({ fine, scaler }: Series, point: Point, capacity: number): void {
  const newest = fine.size() - 1;
  const last = fine.timeOf(newest);
  const isNext =
    last !== null && point.at - last <= PERIODS_BEFORE_GAP * scaler.spec.syncPeriodSeconds * 1000;
  if (isNext && fine.isEqual(newest, point) && fine.isEqual(newest - 1, point)) fine.moveNewest(point.at);
  else fine.push(point, capacity);
}

/** Must be called before `addFine`: the newest point of `fine` must be the last point of the step that ends. */
function addCoarse(series: Series, point: Point, capacity: number): void {
  const { bucket, coarse, fine } = series;
  if (bucket === null) {
    series.bucket = new Bucket(point, COARSE_SECONDS);
    return;
  }
  if (bucket.contains(point.at)) {
    bucket.add(point);
    return;
  }
  const newest = fine.size() - 1;
  const at = fine.timeOf(newest);
  if (at !== null) coarse.push(bucket.point({ at, counts: fine.countsOf(newest) }), capacity);
  bucket.restart(point);
}

function readSeries({ scaler, metrics, fine, coarse }: Series, range: PointRange): ScalerPoints {
  const { since, limit, stepSeconds } = range;
  const recent = pointsOf(fine);
  const from = recent[0]?.at ?? null;
  const older = pointsOf(coarse).filter(({ at }) => from === null || at < from);
  const kept = [...older, ...recent];
  const inRange = since === null ? kept : kept.filter(({ at }) => at >= since);
  const points = stepSeconds === null ? inRange : joinByStep(inRange, stepSeconds);
  return { scaler, metrics, points: points.slice(-limit), keptFrom: kept[0]?.at ?? null };
}

function pointsOf(ring: PointRing): readonly Point[] {
  return Array.from({ length: ring.size() }, (_, index) => ring.get(index)).filter((point) => point !== null);
}

function joinByStep(points: readonly Point[], stepSeconds: number): readonly Point[] {
  const steps: { readonly bucket: Bucket; last: Point }[] = [];
  for (const point of points) {
    const step = steps.at(-1);
    if (step?.bucket.contains(point.at) === true) {
      step.bucket.add(point);
      step.last = point;
    } else steps.push({ bucket: new Bucket(point, stepSeconds), last: point });
  }
  return steps.map(({ bucket, last }) => bucket.point(last));
}

/**
 * Returns the current replicas at the end of each of the last `steps` steps before `until`, oldest first; null:
 * unknown. `rings` are in order of time; if they overlap, the later one is used. Steps are counted from the epoch.
 */
function recentCounts(
  rings: readonly PointRing[],
  { until, stepSeconds, steps }: RecentRange,
): readonly (number | null)[] {
  const stepMs = stepSeconds * 1000;
  const first = Math.floor(until / stepMs) - steps + 1;
  const counts = new Array<number | null>(steps).fill(null);
  let known: { readonly step: number; readonly count: number } | null = null;
  for (const [ring, index] of newest(rings, first * stepMs)) {
    const step = Math.floor((ring.timeOf(index) ?? 0) / stepMs) - first;
    const count = ring.countOf(index, 0);
    if (step >= steps) break;
    // Fills the steps between two equal points, because `addFine` keeps only the first and the last of them.
    if (known !== null && known.count === count)
      for (let between = Math.max(0, known.step + 1); between < step; between += 1) counts[between] = count;
    if (step >= 0) counts[step] = count;
    known = count === null ? null : { step, count };
  }
  return counts;
}

/** Yields the points in order of time, starting with the last point before `fromMs`. */
function* newest(
  rings: readonly PointRing[],
  fromMs: number,
): Generator<readonly [PointRing, number], undefined> {
  for (const [index, ring] of rings.entries()) {
    const endMs = rings[index + 1]?.timeOf(0) ?? Number.POSITIVE_INFINITY;
    for (let index = indexBefore(ring, fromMs); index < ring.size(); index += 1) {
      if ((ring.timeOf(index) ?? 0) >= endMs) break;
      yield [ring, index];
    }
  }
  return undefined;
}

function indexBefore(ring: PointRing, fromMs: number): number {
  let low = 0;
  let high = ring.size() - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((ring.timeOf(middle) ?? 0) < fromMs) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * Computes the mean of each value over the points in a step. Steps are counted from the epoch, so they are equal for
 * all scalers.
 */
class Bucket {
  readonly #stepMs: number;
  readonly #sums: number[];
  readonly #known: number[];
  #step: number;

  /** Creates a bucket for the step that contains `first`, which is its first point. */
  constructor(first: Point, stepSeconds: number) {
    this.#stepMs = 1000 * stepSeconds;
    this.#sums = first.values.map(() => 0);
    this.#known = first.values.map(() => 0);
    this.#step = this.#stepOf(first.at);
    this.add(first);
  }

  contains(at: Instant): boolean {
    return this.#stepOf(at) === this.#step;
  }

  add({ values }: Point): void {
    const [sums, known] = [this.#sums, this.#known];
    for (let column = 0; column < sums.length; column += 1) {
      const value = values[column] ?? null;
      if (value === null) continue;
      sums[column] = (sums[column] ?? 0) + value;
      known[column] = (known[column] ?? 0) + 1;
    }
  }

  /** Returns a point with the given time and counts, and the mean of each value; null: no value was known. */
  point({ at, counts }: Omit<Point, 'values'>): Point {
    const known = this.#known;
    const values = this.#sums.map((sum, index) => (known[index] === 0 ? null : sum / (known[index] ?? 1)));
    return { at, counts, values };
  }

  /** Starts a new step with its first point. */
  restart(first: Point): void {
    this.#step = this.#stepOf(first.at);
    this.#sums.fill(0);
    this.#known.fill(0);
    this.add(first);
  }

  #stepOf(at: Instant): number {
    return Math.floor(at / this.#stepMs);
  }
}
