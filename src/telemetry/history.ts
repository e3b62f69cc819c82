import { scalerKey } from '../scaler/spec.js';
import type { MetricSpec, Scaler } from '../scaler/spec.js';
import type { Instant } from '../units/time.js';
import type { CycleRecord } from './cycle-record.js';
import { createPointRing, bytesPerPoint } from './point-ring.js';
import type { Point, PointRing } from './point-ring.js';
import { presentValue, targetValue } from './scaler-series.js';
import { createBucket, joinByStep } from './point-buckets.js';
import type { Bucket } from './point-buckets.js';

/** The replica counts that a point holds, in their order. */
export const COUNT_COLUMNS = [
  'currentReplicas',
  'desiredReplicas',
  'recommendedReplicas',
  'minReplicas',
  'maxReplicas',
] as const;

/** Points of one scaler, the oldest first. `values` of a point: value and target of each metric, in `metrics`' order. */
export interface ScalerHistory {
  readonly scaler: Scaler;
  readonly metrics: readonly MetricSpec[];
  readonly points: readonly Point[];
  /** Of the oldest point that is kept, asked for or not; null: there is none. */
  readonly keptFrom: Instant | null;
}

/** Counts and metrics of all scalers over the last hours, for charts. */
export interface History {
  readonly add: (record: CycleRecord) => void;
  /** Forgets a scaler whose document is gone. */
  readonly remove: (key: string) => void;
  /** By `NAMESPACE/NAME`; null where there is no such scaler. */
  readonly read: (key: string, range: HistoryRange) => ScalerHistory | null;
}

export interface HistoryRange {
  /** Points at or behind this; null: all. */
  readonly since: Instant | null;
  /** The newest so many. */
  readonly limit: number;
  /** One point for each step, as `point-buckets.ts` joins them; null: as they are kept. */
  readonly stepSeconds: number | null;
}

export interface HistoryLimits {
  /** Of all scalers together, shared out evenly, though each keeps 60 points; default 4 MiB. */
  readonly totalBytes?: number;
  /** Points as they were decided; default 480: two hours at 15 s. */
  readonly fine?: number;
  /** Older points, one for five minutes; default 288: a day. */
  readonly coarse?: number;
}

const LEAST_POINTS = 60;
const COARSE_SECONDS = 300;

interface Series {
  readonly metrics: readonly MetricSpec[];
  readonly identities: string;
  readonly fine: PointRing;
  readonly coarse: PointRing;
  scaler: Scaler;
  bucket: Bucket | null;
}

/** An empty history. */
export function createHistory(limits: HistoryLimits = {}): History {
  const { totalBytes = 4 * 1024 * 1024, fine = 480, coarse = 288 } = limits;
  const all = new Map<string, Series>();
  const roomFor = ({ metrics }: Series): { readonly fine: number; readonly coarse: number } => {
    const each = totalBytes / Math.max(1, all.size) / bytesPerPoint(COUNT_COLUMNS.length, 2 * metrics.length);
    const points = Math.max(LEAST_POINTS, Math.min(fine + coarse, each));
    const share = fine / (fine + coarse);
    return { fine: Math.floor(points * share), coarse: Math.floor(points * (1 - share)) };
  };
  return {
    add: (record) => {
      const key = scalerKey(record.scaler);
      const series = continued(all.get(key) ?? null, record.scaler);
      all.set(key, series);
      const room = roomFor(series);
      const point = pointOf(record, series.metrics);
      addFine(series, point, room.fine);
      addCoarse(series, point, room.coarse);
    },
    remove: (key) => void all.delete(key),
    read: (key, range) => {
      const series = all.get(key);
      return series === undefined ? null : readSeries(series, range);
    },
  };
}

/** The series of a scaler; a new one with the old counts where the document asks other metrics than before. */
function continued(before: Series | null, scaler: Scaler): Series {
  const { metrics } = scaler.spec;
  const identities = JSON.stringify(
    metrics.map(({ type, identity, target }) => [type, identity, target.type]),
  );
  if (before?.identities === identities) {
    before.scaler = scaler;
    return before;
  }
  const next: Series = {
    metrics,
    identities,
    fine: createPointRing(COUNT_COLUMNS.length, 2 * metrics.length),
    coarse: createPointRing(COUNT_COLUMNS.length, 2 * metrics.length),
    scaler,
    bucket: null,
  };
  if (before !== null) takeOver(before, next);
  return next;
}

/** What the metrics were before belongs to other questions: it is not known for the new ones. */
function takeOver(before: Series, next: Series): void {
  const values = next.metrics.flatMap(() => [null, null]);
  for (const ring of ['fine', 'coarse'] as const) {
    const size = before[ring].size();
    for (let index = 0; index < size; index += 1) {
      const point = before[ring].get(index);
      if (point !== null) next[ring].push({ ...point, values }, size);
    }
  }
}

function pointOf({ at, decision }: CycleRecord, metrics: readonly MetricSpec[]): Point {
  return {
    at,
    counts: COUNT_COLUMNS.map((column) => decision?.[column] ?? null),
    values: metrics.flatMap((spec, index) => [
      presentValue(spec, decision?.metrics[index]),
      targetValue(spec),
    ]),
  };
}

/** Of points in a row that say the same the first and the last are kept: a line through them reads the same. */
function addFine({ fine, scaler }: Series, point: Point, room: number): void {
  const newest = fine.size() - 1;
  const last = fine.timeOf(newest);
  // A pause longer than two periods stays a gap between two points.
  const isNext = last !== null && point.at - last <= 2500 * scaler.spec.syncPeriodSeconds;
  if (isNext && fine.saysSame(newest, point) && fine.saysSame(newest - 1, point)) fine.moveNewest(point.at);
  else fine.push(point, room);
}

function addCoarse(series: Series, point: Point, room: number): void {
  const { bucket } = series;
  if (bucket?.takes(point.at) === true) {
    bucket.add(point);
    return;
  }
  if (bucket !== null) series.coarse.push(bucket.point(), room);
  series.bucket = createBucket(point, COARSE_SECONDS);
}

function readSeries({ scaler, metrics, fine, coarse }: Series, range: HistoryRange): ScalerHistory {
  const { since, limit, stepSeconds } = range;
  const recent = pointsOf(fine);
  const from = recent[0]?.at ?? null;
  const older = pointsOf(coarse).filter(({ at }) => from === null || at < from);
  const kept = [...older, ...recent];
  const asked = since === null ? kept : kept.filter(({ at }) => at >= since);
  const points = stepSeconds === null ? asked : joinByStep(asked, stepSeconds);
  return { scaler, metrics, points: points.slice(-limit), keptFrom: kept[0]?.at ?? null };
}

function pointsOf(ring: PointRing): readonly Point[] {
  return Array.from({ length: ring.size() }, (_, index) => ring.get(index)).filter((point) => point !== null);
}
