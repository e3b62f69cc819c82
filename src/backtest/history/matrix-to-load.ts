import { addSeconds, formatInstant, type Instant, instantFromMs } from '../../units/time.js';
import { createLoad, type Load } from '../simulation/load.js';

/** A value for each step of the history; NaN: there is no value. */
export interface Column {
  readonly start: Instant;
  readonly stepSeconds: number;
  readonly values: Float64Array;
}

interface Points {
  readonly points: readonly (readonly [atMs: number, value: number])[];
}

/** Returns the sum of the series in each step. The sum is unknown (NaN) if one of the series is NaN or infinite. */
export function columnOf(
  series: readonly Points[],
  range: { readonly start: Instant; readonly end: Instant; readonly stepSeconds: number },
): Column {
  const { start, end, stepSeconds } = range;
  const stepMs = stepSeconds * 1000;
  const values = new Float64Array(Math.max(1, Math.floor((end - start) / stepMs) + 1)).fill(NaN);
  const isBroken = new Set<number>();
  for (const { points } of series)
    for (const [atMs, value] of points) {
      const index = Math.round((atMs - start) / stepMs);
      if (index < 0 || index >= values.length || isBroken.has(index)) continue;
      if (!Number.isFinite(value)) isBroken.add(index);
      const before = values[index] ?? NaN;
      values[index] = !Number.isFinite(value) ? NaN : Number.isNaN(before) ? value : before + value;
    }
  return { start, stepSeconds, values };
}

/**
 * Returns the load of a column. Each value is a mean over the window before its time, so it is shifted back to the
 * middle of the window.
 */
export function loadOfColumn(column: Column, windowSeconds: number): Load {
  return movedBack(column, windowSeconds / 2);
}

/** Returns the results of the query at the times of the column. Between two steps, known values are interpolated. */
export function observedOfColumn(column: Column): Load {
  return movedBack(column, 0, true);
}

/**
 * Returns a load in which each value applies for one step, with its time in the middle. The times are `seconds` earlier
 * than in the column. A negative value is unknown.
 */
function movedBack({ start, stepSeconds, values }: Column, seconds: number, isInterpolated = false): Load {
  const first = addSeconds(start, -seconds - stepSeconds / 2);
  const times = Float64Array.from(values, (_, index) => first + index * stepSeconds * 1000);
  const known = values.map((value) => (value < 0 ? NaN : value));
  return createLoad(times, known, addSeconds(first, values.length * stepSeconds), isInterpolated);
}

/** Divides the values step by step. The quotient is unknown (NaN) if the divisor is unknown or 0. */
export function divideColumns(one: Column, other: Column): Column {
  return {
    ...one,
    values: one.values.map((value, index) => {
      const divisor = other.values[index] ?? NaN;
      return divisor > 0 ? value / divisor : NaN;
    }),
  };
}

/**
 * Replaces a missing value by 0 if `witness` has a value at the same time, which shows that Prometheus was scraping.
 */
export function fillZero(column: Column, witness: Column | null): Column {
  if (witness === null) return column;
  return {
    ...column,
    values: column.values.map((value, index) =>
      Number.isNaN(value) && !Number.isNaN(witness.values[index] ?? NaN) ? 0 : value,
    ),
  };
}

/** Returns the mean of the known values; null: there are none. */
export function meanOf({ values }: Column): number | null {
  const known = values.filter((value) => !Number.isNaN(value));
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}

export function medianOf({ values }: Pick<Column, 'values'>): number | null {
  const known = values.filter((value) => !Number.isNaN(value)).sort();
  return known[Math.floor(known.length / 2)] ?? null;
}

/** Returns a description of the gaps in a column; null: there are none; undefined: the column has no values at all. */
export function describeGaps({ start, stepSeconds, values }: Column): string | null | undefined {
  const missing = values.reduce((count, value) => count + (Number.isNaN(value) ? 1 : 0), 0);
  if (missing === 0) return null;
  if (missing === values.length) return undefined;
  const timeAt = (index: number): string => formatInstant(instantFromMs(start + index * stepSeconds * 1000));
  const percent = (steps: number): string => ((100 * steps) / values.length).toFixed(1);
  const firstKnown = values.findIndex((value) => !Number.isNaN(value));
  const early = `no values before ${timeAt(firstKnown)} (older than the retention of the server, or before the metric existed); ${percent(firstKnown)} % of the time is excluded`;
  const later = missing - firstKnown;
  // A missing first step is not a gap, because it may result from the times of scrapes.
  if (firstKnown > 1 && later === 0) return early;
  const firstGap = values.findIndex((value, index) => index > firstKnown && Number.isNaN(value));
  const gap = later === 0 ? timeAt(0) : `${timeAt(firstGap)} and at other times`;
  const gaps = `no values at ${gap} (${percent(firstKnown > 1 ? later : missing)} % of the time); gaps are not filled and not scored`;
  return firstKnown > 1 ? `${early}; ${gaps}` : gaps;
}
