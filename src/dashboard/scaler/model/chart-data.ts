import type { History } from './answers.js';

const COUNT_COLUMNS = [
  'currentReplicas',
  'desiredReplicas',
  'recommendedReplicas',
  'minReplicas',
  'maxReplicas',
  'readyPods',
] as const;

type CountColumn = (typeof COUNT_COLUMNS)[number];

export type Values = readonly (number | null)[];

/** The points of the charts as columns of equal length. Null is a gap and must not be drawn as 0. */
export interface ChartData extends Readonly<Record<CountColumn, Values>> {
  /** Ascending Unix times in seconds. */
  readonly at: readonly number[];
  readonly metrics: readonly MetricColumns[];
}

export interface MetricColumns {
  readonly type: History['metrics'][number]['type'];
  readonly metric: string;
  readonly unit: History['metrics'][number]['unit'];
  readonly value: Values;
  readonly target: Values;
}

export const NO_CHART_DATA: ChartData = {
  at: [],
  currentReplicas: [],
  desiredReplicas: [],
  recommendedReplicas: [],
  minReplicas: [],
  maxReplicas: [],
  readyPods: [],
  metrics: [],
};

/** Converts a history. Drops points without a valid time, and points that are not later than the previous point. */
export function readHistory(history: History): ChartData {
  const seconds = history.at.map((time) => Date.parse(time) / 1000);
  const kept: number[] = [];
  let last = -Infinity;
  seconds.forEach((second, index) => {
    if (!(second > last)) return;
    kept.push(index);
    last = second;
  });
  const at = kept.map((index) => seconds[index] ?? 0);
  // A replica with an earlier version does not send all columns; missing columns are empty.
  return mapColumns({ ...NO_CHART_DATA, ...history, at }, at, (values) =>
    kept.map((index) => values[index] ?? null),
  );
}

/**
 * Puts the points of `earlier` before the points of `later`. If more than `maxGapSeconds` are between them, a point
 * without values interrupts the lines. The result has the metrics of `later` or, if `later` has no points, of
 * `earlier`. The line of a metric that `earlier` does not have starts with a gap.
 */
export function joinHistories(earlier: ChartData, later: ChartData, maxGapSeconds: number): ChartData {
  const [start] = later.at;
  if (start === undefined) return earlier;
  const end = earlier.at.findIndex((second) => second >= start);
  const count = end === -1 ? earlier.at.length : end;
  const last = earlier.at[count - 1];
  if (last === undefined) return later;
  const gap = start - last > maxGapSeconds ? [last + maxGapSeconds] : [];
  const at = earlier.at.slice(0, count);
  return mapColumns(later, [...at, ...gap, ...later.at], (after, columnOf) => {
    const before = columnOf(earlier);
    return [...at.map((_, index) => before?.[index] ?? null), ...gap.map(() => null), ...after];
  });
}

/**
 * Returns a copy with the times `at`, in which `change` replaces each column. `columnOf` returns the corresponding
 * column of other data; undefined: the other data has no such column.
 */
function mapColumns(
  data: ChartData,
  at: readonly number[],
  change: (values: Values, columnOf: (other: ChartData) => Values | undefined) => Values,
): ChartData {
  const counts = COUNT_COLUMNS.map((name) => [name, change(data[name], (other) => other[name])] as const);
  return {
    ...NO_CHART_DATA,
    ...Object.fromEntries(counts),
    at,
    metrics: data.metrics.map((metric) => {
      const find = (other: ChartData): MetricColumns | undefined =>
        other.metrics.find((one) => isSameMetric(metric, one));
      return {
        ...metric,
        value: change(metric.value, (other) => find(other)?.value),
        target: change(metric.target, (other) => find(other)?.target),
      };
    }),
  };
}

function isSameMetric(a: MetricColumns, b: MetricColumns): boolean {
  return a.type === b.type && a.metric === b.metric && a.unit === b.unit;
}

/** Returns the points since a time (Unix seconds), and one point before it, so that lines start at the left edge. */
export function pointsSince(data: ChartData, since: number): ChartData {
  const first = data.at.findIndex((second) => second >= since);
  const start = Math.max(0, (first === -1 ? data.at.length : first) - 1);
  if (start === 0) return data;
  return mapColumns(data, data.at.slice(start), (values) => values.slice(start));
}

/** Returns the index of the last point at or before `second`; null: there is none. */
export function pointAt({ at }: ChartData, second: number): number | null {
  let [low, high] = [0, at.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((at[middle] ?? Infinity) <= second) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? null : low - 1;
}

/** Returns a function that reads a column at `second` (Unix seconds; null: at the last point). */
export function readerAt(data: ChartData, second: number | null): (column: Values) => number | null {
  const index = second === null ? data.at.length - 1 : pointAt(data, second);
  return (column) => (index === null ? null : (column[index] ?? null));
}

/**
 * Returns the largest value of the axis of replicas. A maximum or recommendation that is more than twice the counts is
 * cut off: otherwise the counts would be a flat line at the bottom.
 */
export function replicasTop(data: ChartData): number {
  const peak = Math.max(
    1,
    largest(data.currentReplicas),
    largest(data.desiredReplicas),
    largest(data.minReplicas),
  );
  const wanted = Math.max(largest(data.maxReplicas), largest(data.recommendedReplicas));
  const top = wanted <= 2 * peak ? Math.max(peak, wanted) : Math.max(peak * 1.5, peak + 2);
  return Math.ceil(top * 1.05);
}

function largest(values: Values): number {
  return values.reduce<number>((most, value) => (value === null || value < most ? most : value), 0);
}

/**
 * Returns the value at the bottom of a logarithmic axis, a power of 10; null: the axis is linear, because the largest
 * value is less than 100 times the smallest value above 0. If there is a 0, the bottom is below all other values.
 */
export function logFloor(values: Values): number | null {
  const least = values.reduce<number>(
    (low, one) => (one !== null && one > 0 && one < low ? one : low),
    Infinity,
  );
  if (largest(values) < least * 100) return null;
  const power = Math.log10(least);
  return 10 ** (values.includes(0) ? Math.ceil(power) - 1 : Math.floor(power));
}
