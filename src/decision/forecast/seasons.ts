import type { Forecast } from '../../scaler/spec.js';
import { formatLocal, instantOfLocal } from '../../schedules/local-time.js';
import { addSeconds, type Instant, secondsBetween } from '../../units/time.js';
import type { Season } from '../snapshot/snapshot.js';

/** Each of the last seven days, and the same weekday of the four weeks before. */
const DAYS_BACK = [1, 2, 3, 4, 5, 6, 7, 14, 21, 28] as const;

/** Fewer earlier days say too little about this one. */
export const FEWEST_SEASONS = 3;

/** The load of a season is the highest until this long after the time when a pod that is started now carries load. */
const SECONDS_AFTER_LEAD = 180;

/** What the load of today is compared with. */
const LEVEL_SECONDS = 600;

/** A load at a time, in base units. */
export interface LoadPoint {
  readonly at: Instant;
  readonly load: number;
}

/**
 * Returns the time of each earlier day at which the clock showed what it shows now, the latest first. A day lasts 23 or
 * 25 hours when the clock changes.
 */
export function seasonTimes(now: Instant, { lookbackDays, timeZone }: Forecast): readonly Instant[] {
  const local = Date.parse(`${formatLocal(now, timeZone)}Z`);
  const secondsPastMinute = (now % 60_000) / 1000;
  return DAYS_BACK.filter((days) => days <= lookbackDays).map((days) =>
    addSeconds(instantOfLocal(local - days * 86_400_000, timeZone), secondsPastMinute),
  );
}

/** From which to which time the loads around the time of a season are needed, relative to it. */
export function seasonSeconds(leadSeconds: number): { readonly from: number; readonly to: number } {
  return { from: -LEVEL_SECONDS, to: leadSeconds + SECONDS_AFTER_LEAD };
}

/** A load for each minute from `start` on; NaN: it is not known. */
export interface MinuteLoads {
  readonly start: Instant;
  readonly values: Float64Array;
}

/** Returns the known loads around the time of a season, and at most one before and after them. */
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
 * Returns what a day shows about the time from now on: the highest load until a pod that is started now carries load,
 * and 180 s more, as the mean of two points: the highest of some noisy points is too high. Null if the points, in the
 * order of their times, have a gap of more than `maxGapSeconds`.
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
