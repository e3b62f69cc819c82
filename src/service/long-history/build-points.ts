import type { RangeSeries } from '../../prometheus/answers/classify.js';
import type { Scaler } from '../../scaler/spec.js';
import type { LongRange } from '../../server/pages/long-range.js';
import { COUNT_COLUMNS } from '../../telemetry/chart-points.js';
import type { ScalerPoints } from '../../telemetry/chart-points.js';
import type { Point } from '../../telemetry/point-ring.js';
import { addSeconds, secondsBetween } from '../../units/time.js';

/** Answers to `HistoryQueries`. */
export interface HistorySeries {
  readonly counts: readonly RangeSeries[];
  readonly values: readonly RangeSeries[];
  readonly targets: readonly RangeSeries[];
}

type Column = (number | null)[];

/**
 * Returns one point per step from the first to the last with a number. What has no sample is null. `takeTurn` lets
 * other work go on.
 */
export async function buildPoints(
  scaler: Scaler,
  range: LongRange,
  series: HistorySeries,
  takeTurn: () => Promise<void>,
): Promise<ScalerPoints> {
  const { metrics } = scaler.spec;
  const columnOf = createColumns(range);
  const counts = COUNT_COLUMNS.map((name) =>
    columnOf(series.counts, ({ column }) => column === name).map(countOrNull),
  );
  const values: Column[] = [];
  for (const spec of metrics)
    for (const all of [series.values, series.targets]) {
      values.push(columnOf(all, ({ metric, type }) => metric === spec.identity && type === spec.type));
      await takeTurn();
    }
  const points: Point[] = [];
  for (let index = 0; index < lengthOf(range); index += 1) {
    points.push({
      at: addSeconds(range.start, index * range.stepSeconds),
      counts: counts.map((column) => column[index] ?? null),
      values: values.map((column) => column[index] ?? null),
    });
    await takeTurn();
  }
  const first = points.findIndex(hasNumber);
  const last = points.findLastIndex(hasNumber);
  return { scaler, metrics, points: first === -1 ? [] : points.slice(first, last + 1), keptFrom: null };
}

/** Of several series of a column, the largest number at each step is taken. */
function createColumns(
  range: LongRange,
): (all: readonly RangeSeries[], isOf: (labels: RangeSeries['labels']) => boolean) => Column {
  const length = lengthOf(range);
  const stepMs = range.stepSeconds * 1000;
  return (all, isOf) => {
    const column: Column = Array.from({ length }, () => null);
    for (const { points } of all.filter(({ labels }) => isOf(labels)))
      for (const [atMs, value] of points) {
        const index = Math.round((atMs - range.start) / stepMs);
        if (index < 0 || index >= length || !Number.isFinite(value)) continue;
        column[index] = Math.max(column[index] ?? -Infinity, value);
      }
    return column;
  };
}

function lengthOf({ start, end, stepSeconds }: LongRange): number {
  return Math.round(secondsBetween(start, end) / stepSeconds) + 1;
}

function countOrNull(value: number | null): number | null {
  return value !== null && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

function hasNumber({ counts, values }: Point): boolean {
  return [...counts, ...values].some((value) => value !== null);
}
