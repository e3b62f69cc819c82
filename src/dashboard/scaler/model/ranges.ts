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

/** Returns for how many seconds a forecast is shown: a third of the past, at most an hour; 0: there is none. */
export function secondsAhead(pastSeconds: number, { spec }: Readonly<Record<string, unknown>>): number {
  return isPlainObject(spec) && isPlainObject(spec['forecast']) ? Math.min(3600, pastSeconds / 3) : 0;
}

/**
 * Returns the time at which the charts start, in Unix seconds. If the viewer has not selected a range, it is that of
 * the oldest point, because a short history would be a thin line at the edge.
 */
export function startOf(
  { seconds }: Range,
  {
    now,
    oldest,
    isChosen,
  }: { readonly now: number; readonly oldest: number | null; readonly isChosen: boolean },
): number {
  const start = now - seconds;
  if (isChosen || oldest === null) return start;
  return Math.max(start, Math.min(oldest, now - LEAST_SECONDS));
}

/**
 * Returns the shorter one of the first two ranges, or the longer one if the shorter one does not contain the oldest
 * point. Times are in Unix seconds.
 */
export function firstRange(oldest: number | null, now: number): Range {
  const [short = FIRST, long = FIRST] = RANGES;
  return oldest !== null && now - oldest > short.seconds ? long : short;
}
