import { isPlainObject } from '../../../scaler/plain-json.js';

/**
 * A range of the charts. `stepSeconds`: the step of the query to Prometheus; null: only points in the memory of the
 * service are shown.
 */
export interface Range {
  readonly name: string;
  readonly seconds: number;
  readonly stepSeconds: number | null;
}

const FIRST: Range = { name: '15 min', seconds: 900, stepSeconds: null };

export const RANGES: readonly Range[] = [
  FIRST,
  { name: '2 h', seconds: 7200, stepSeconds: null },
  { name: '24 h', seconds: 86_400, stepSeconds: 120 },
  { name: '7 d', seconds: 604_800, stepSeconds: 900 },
];

const LEAST_SECONDS = 120;

/**
 * Returns how many seconds of the future are shown for a forecast: a third of the shown past, at most an hour; 0: the
 * document has no forecast.
 */
export function secondsAhead(pastSeconds: number, { spec }: Readonly<Record<string, unknown>>): number {
  return isPlainObject(spec) && isPlainObject(spec['forecast']) ? Math.min(3600, pastSeconds / 3) : 0;
}

/**
 * Returns the time at which the charts start, in Unix seconds. They start at the oldest point if the range contains it:
 * otherwise a short history would be a thin line at the right edge. `oldest` null: it is not known yet.
 */
export function startOf(
  { seconds }: Range,
  { now, oldest }: { readonly now: number; readonly oldest: number | null },
): number {
  const start = now - seconds;
  if (oldest === null) return start;
  return Math.max(start, Math.min(oldest, now - LEAST_SECONDS));
}

/** Returns the first range if it contains the oldest point, otherwise the second range. Times are in Unix seconds. */
export function firstRange(oldest: number | null, now: number): Range {
  const [short = FIRST, long = FIRST] = RANGES;
  return oldest !== null && now - oldest > short.seconds ? long : short;
}

/** A time range in Unix seconds. */
export interface TimeWindow {
  readonly from: number;
  readonly to: number;
}

/** The positions of two fingers, from 0 (left edge) to 1 (right edge). */
export type Fingers = readonly [number, number];

/** Minimum distance of the fingers at the start, which limits the zoom factor. */
const MIN_DISTANCE = 0.05;

/**
 * Returns the part of `window` to show, such that each finger stays at the time at which it started. Null: the fingers
 * started too close to each other, or have not moved apart.
 */
export function pinchWindow(window: TimeWindow, start: Fingers, now: Fingers): TimeWindow | null {
  const [fromLeft, fromRight] = start.toSorted((a, b) => a - b);
  const [left, right] = now.toSorted((a, b) => a - b);
  if (fromLeft === undefined || fromRight === undefined || left === undefined || right === undefined)
    return null;
  if (fromRight - fromLeft < MIN_DISTANCE || right - left <= fromRight - fromLeft) return null;
  const span = window.to - window.from;
  const zoomed = (span * (fromRight - fromLeft)) / (right - left);
  const from = window.from + fromLeft * span - left * zoomed;
  return { from: Math.max(window.from, from), to: Math.min(window.to, from + zoomed) };
}
