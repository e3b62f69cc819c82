import { addSeconds, formatInstant, type Instant, instantFromMs } from '../../units/time.js';
import { createLoad, type Load } from '../simulation/load.js';
import { runOf } from '../compare/figures.js';
import type { CountStep } from '../simulation/count-steps.js';
import type { Change, Run } from '../simulation/run-variant.js';

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

/** The name of the row with the recorded replicas. */
export const RAN = 'what really ran';

export interface Recorded {
  readonly replicas: Column;
  /** Null: all replicas count as ready. */
  readonly ready: Column | null;
  /** Mean delay in seconds between a change and the value that records it. */
  readonly lateSeconds: { readonly replicas: number; readonly ready: number };
}

/** Returns the recorded replicas as a run without decisions, whose changes have no reasons. Null: no value is known. */
export function recordedRun(
  { replicas, ready, lateSeconds }: Recorded,
  range: Pick<Run, 'start' | 'end'>,
): Run | null {
  const { start } = range;
  const counts = stepsOf(replicas, { start, lateSeconds: lateSeconds.replicas });
  if (counts.length === 0) return null;
  const readyCounts = ready === null ? [] : stepsOf(ready, { start, lateSeconds: lateSeconds.ready });
  const changes = counts.slice(1).map(({ at, count }, index): Change => {
    const before = counts[index]?.count ?? count;
    const action = count > before ? 'scale-up' : 'scale-down';
    return { at, action, currentReplicas: before, desiredReplicas: count, reason: 'recorded' };
  });
  return { ...runOf(range, counts), ready: readyCounts.length === 0 ? counts : readyCounts, changes };
}

/** Returns the changes of the count, moved back by `lateSeconds`. If a value is missing, the count stays. */
function stepsOf(
  { start: first, stepSeconds, values }: Column,
  { start, lateSeconds }: { readonly start: Instant; readonly lateSeconds: number },
): readonly CountStep[] {
  const steps: CountStep[] = [];
  values.forEach((value, index) => {
    if (Number.isNaN(value)) return;
    const count = Math.round(value);
    if (steps.at(-1)?.count === count) return;
    const at = addSeconds(first, index * stepSeconds - lateSeconds);
    // Only the last change before `start` counts. It is moved to `start`.
    if (at <= start) steps.length = 0;
    steps.push({ at: steps.length === 0 ? start : at, count });
  });
  return steps;
}
