import type { Decision } from '../decision/result/decision.js';
import type { MetricSpec, Scaler } from '../scaler/spec.js';
import { instantFromMs } from '../units/time.js';
import type { Instant } from '../units/time.js';
import type { CycleRecord } from './cycle-record.js';
import { createPointRing, bytesPerPoint } from './point-ring.js';
import type { Point, PointRing } from './point-ring.js';
import { currentValue, targetValue } from './scaler-series.js';
import { Bucket, joinByStep } from './point-buckets.js';
import { recentCounts } from './recent-counts.js';

/** Order of `counts` in a point. */
export const COUNT_COLUMNS = [
  'currentReplicas',
  'desiredReplicas',
  'recommendedReplicas',
  'minReplicas',
  'maxReplicas',
] as const;

/**
 * Points of one scaler, oldest first. `values` of a point contains value and target of each metric, in the order of
 * `metrics`.
 */
export interface ScalerPoints {
  readonly scaler: Scaler;
  readonly metrics: readonly MetricSpec[];
  readonly points: readonly Point[];
  /** Time of the oldest stored point. It may be outside of the range. */
  readonly keptFrom: Instant | null;
}

/** Replica counts and metrics of all scalers over the last hours, for charts. */
export interface ChartPoints {
  readonly add: (record: CycleRecord) => void;
  readonly remove: (key: string) => void;
  /** Returns the points of `NAMESPACE/NAME`; null: unknown scaler. */
  readonly read: (key: string, range: PointRange) => ScalerPoints | null;
  /**
   * Returns the current replicas at the end of each of the last `steps` steps before `until`, oldest first; null:
   * unknown. Fast enough to call for all scalers.
   */
  readonly recentReplicas: (key: string, range: RecentRange) => readonly (number | null)[];
}

export interface RecentRange {
  readonly until: Instant;
  readonly stepSeconds: number;
  readonly steps: number;
}

interface PointRange {
  /** Points at or after this instant; null: all points. */
  readonly since: Instant | null;
  /** Maximum number of points. The newest ones are returned. */
  readonly limit: number;
  /** Step of the points. `point-buckets.ts` merges them. Null: as stored. */
  readonly stepSeconds: number | null;
}

interface PointLimits {
  /** Memory for all scalers, in equal shares of at least 60 points; default: 4 MiB. */
  readonly totalBytes?: number;
  /** Number of points per scaler with one point per cycle; default: 480, which is two hours at 15 s. */
  readonly fine?: number;
  /** Number of older points with one point per five minutes; default: 288, which is one day. */
  readonly coarse?: number;
}

const MIN_POINTS = 60;
const COARSE_SECONDS = 300;

interface Series {
  readonly metrics: readonly MetricSpec[];
  readonly identities: string;
  readonly fine: PointRing;
  readonly coarse: PointRing;
  scaler: Scaler;
  /** Targets of the metrics of `scaler`. */
  targets: readonly number[];
  /** The step of the last point; null: there is no point. */
  bucket: Bucket | null;
}

/** Number of points in each ring. */
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
  /** Reused for each cycle, because rings and buckets keep copies. */
  const next: NextPoint = { at: instantFromMs(0), counts: [], values: [] };
  /** Number of metrics -> ring sizes, for the current number of scalers. */
  let sizesByMetrics: (RingSizes | undefined)[] = [];
  const sizesFor = (metrics: number): RingSizes => {
    const each = totalBytes / Math.max(1, all.size) / bytesPerPoint(COUNT_COLUMNS.length, 2 * metrics);
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
      if (before === null) sizesByMetrics = [];
      const sizes = (sizesByMetrics[series.metrics.length] ??= sizesFor(series.metrics.length));
      const point = fillPoint(next, record, series);
      addCoarse(series, point, sizes.coarse);
      addFine(series, point, sizes.fine);
    },
    remove: (key) => {
      all.delete(key);
      sizesByMetrics = [];
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

/** Starts a new series with the old counts if the metrics of the document have changed. */
function continueSeries(before: Series | null, scaler: Scaler): Series {
  if (before?.scaler === scaler) return before;
  const { metrics } = scaler.spec;
  const identities = JSON.stringify(
    metrics.map(({ type, identity, target }) => [type, identity, target.type]),
  );
  if (before?.identities === identities) {
    before.scaler = scaler;
    before.targets = metrics.map((spec) => targetValue(spec));
    return before;
  }
  const next: Series = {
    metrics,
    identities,
    fine: createPointRing(COUNT_COLUMNS.length, 2 * metrics.length),
    coarse: createPointRing(COUNT_COLUMNS.length, 2 * metrics.length),
    scaler,
    targets: metrics.map((spec) => targetValue(spec)),
    bucket: null,
  };
  if (before !== null) copyCounts(before, next);
  return next;
}

/** The old values belong to other metrics, so they are not copied. */
function copyCounts(before: Series, next: Series): void {
  const values = next.metrics.flatMap(() => [null, null]);
  for (const ring of ['fine', 'coarse'] as const) {
    const size = before[ring].size();
    for (let index = 0; index < size; index += 1) {
      const point = before[ring].get(index);
      if (point !== null) next[ring].push({ ...point, values }, size);
    }
  }
}

function fillPoint(next: NextPoint, { at, decision }: CycleRecord, { metrics, targets }: Series): Point {
  next.at = at;
  fillCounts(next.counts, decision);
  next.values.length = 2 * metrics.length;
  let index = 0;
  for (const spec of metrics) {
    next.values[2 * index] = currentValue(spec, decision?.metrics[index]);
    next.values[2 * index + 1] = decision?.metrics[index]?.capacity ?? targets[index] ?? null;
    index += 1;
  }
  return next;
}

/** Fills the counts in the order of `COUNT_COLUMNS`. Named properties are much faster to read than listed ones. */
function fillCounts(counts: (number | null)[], decision: Decision | null): void {
  counts[0] = decision === null ? null : decision.currentReplicas;
  counts[1] = decision === null ? null : decision.desiredReplicas;
  counts[2] = decision === null ? null : decision.recommendedReplicas;
  counts[3] = decision === null ? null : decision.minReplicas;
  counts[4] = decision === null ? null : decision.maxReplicas;
}

/** Keeps only the first and the last of consecutive equal points, which give the same chart. */
function addFine({ fine, scaler }: Series, point: Point, capacity: number): void {
  const newest = fine.size() - 1;
  const last = fine.timeOf(newest);
  // A gap of more than two periods stays visible between two points.
  const isNext = last !== null && point.at - last <= 2500 * scaler.spec.syncPeriodSeconds;
  if (isNext && fine.isEqual(newest, point) && fine.isEqual(newest - 1, point)) fine.moveNewest(point.at);
  else fine.push(point, capacity);
}

/**
 * Must run before the point is added to `fine`: the newest point of `fine` is then the last one of the step that has
 * ended.
 */
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
