import type { Forecast } from '../../scaler/spec.js';
import { formatLocal, instantOfLocal } from '../../schedules/local-time.js';
import { addSeconds, type Instant, secondsBetween } from '../../units/time.js';
import type { Season } from '../snapshot/snapshot.js';

/** The earlier days that a forecast reads: the last seven days, and this weekday in the last four weeks. */
const DAYS_BACK = [1, 2, 3, 4, 5, 6, 7, 14, 21, 28] as const;

/** Number of earlier days with a load that a forecast needs. */
export const FEWEST_SEASONS = 3;

/**
 * The load of an earlier day is read until this long after the lead time. The lead time is the time until a new pod
 * carries load.
 */
const SECONDS_AFTER_LEAD = 180;

/** The load level is the mean load of this time before now, or before the same time of an earlier day. */
const LEVEL_SECONDS = 600;

/** A load in base units, and its time. */
export interface LoadPoint {
  readonly at: Instant;
  readonly load: number;
}

/** Returns the same local time on each earlier day, latest first. A day has 23 or 25 hours when the clock changes. */
export function seasonTimes(now: Instant, { lookbackDays, timeZone }: Forecast): readonly Instant[] {
  const local = Date.parse(`${formatLocal(now, timeZone)}Z`);
  const secondsPastMinute = (now % 60_000) / 1000;
  return DAYS_BACK.filter((days) => days <= lookbackDays).map((days) =>
    addSeconds(instantOfLocal(local - days * 86_400_000, timeZone), secondsPastMinute),
  );
}

/** Returns the range of loads that `seasonOf` needs, in seconds relative to `at`. */
export function seasonSeconds(leadSeconds: number): { readonly from: number; readonly to: number } {
  return { from: -LEVEL_SECONDS, to: leadSeconds + SECONDS_AFTER_LEAD };
}

/** One load for each minute from `start` on; NaN: the load is not known. */
export interface MinuteLoads {
  readonly start: Instant;
  readonly values: Float64Array;
}

/**
 * Returns the known loads in the range that `seasonOf` needs for `at`, and at most one load before and one after that
 * range.
 */
export function pointsAround(
  { start, values }: MinuteLoads,
  at: Instant,
  leadSeconds: number,
): readonly LoadPoint[] {
  const { from, to } = seasonSeconds(leadSeconds);
  const first = Math.max(0, Math.floor(secondsBetween(start, addSeconds(at, from)) / 60));
  const last = Math.ceil(secondsBetween(start, addSeconds(at, to)) / 60);
  const points: LoadPoint[] = [];
  for (let index = first; index <= last && index < values.length; index += 1) {
    const load = values[index] ?? NaN;
    if (!Number.isNaN(load)) points.push({ at: addSeconds(start, index * 60), load });
  }
  return points;
}

/**
 * Returns the season of the earlier day at `at`. Its `load` is the highest load from `at` until 180 s after a pod that
 * is started at `at` would carry load. The highest mean of two consecutive points is used, because the maximum of noisy
 * points is too high. Null: there is a gap of more than `maxGapSeconds`. `points` must be in order of time.
 */
export function seasonOf(
  at: Instant,
  points: readonly LoadPoint[],
  { leadSeconds, maxGapSeconds }: { readonly leadSeconds: number; readonly maxGapSeconds: number },
): Season | null {
  const { from, to } = seasonSeconds(leadSeconds);
  const [start, end] = [addSeconds(at, from), addSeconds(at, to)];
  const used = points.filter((point) => point.at >= start && point.at <= end);
  let last = start;
  let [load, previous, sum, count] = [0, 0, 0, 0];
  for (const point of used) {
    if (point.at - last > maxGapSeconds * 1000) return null;
    last = point.at;
    if (point.at <= at) {
      sum += point.load;
      count += 1;
    } else load = Math.max(load, (previous + point.load) / 2);
    previous = point.load;
  }
  if (end - last > maxGapSeconds * 1000 || count === 0) return null;
  return { at: addSeconds(at, leadSeconds), load, level: sum / count };
}
