import type { Forecast } from '../../scaler/spec.js';
import { formatLocal } from '../../schedules/local-time.js';
import { countOf, formatNumber, formatSeconds } from '../../units/format.js';
import { addSeconds, type Instant, secondsBetween } from '../../units/time.js';
import type { LoadHistory, LoadMinute, Season } from '../snapshot/snapshot.js';
import { ceilCount } from '../proposals/arithmetic.js';
import type { Load } from './load.js';

/** Fewer earlier days say too little about this one. */
export const FEWEST_SEASONS = 3;

/** Of the last ten minutes. */
const FEWEST_MINUTES = 5;

/** Without a rise, the pods are there. Of days that rise at other times, each one would raise the count. */
const LEAST_RISE = 1.25;

/** A day may need this many times the load of an earlier day. */
const HIGHEST_SCALE = 2;

/** The highest load of the lookback times this is the highest forecast. */
const ABOVE_HIGHEST = 1.2;

export interface Proposed {
  /** Null: there is no forecast. */
  readonly replicas: number | null;
  /** Part of a sentence. */
  readonly why: string;
}

export interface Given {
  readonly now: Instant;
  readonly forecast: Forecast;
  readonly history: LoadHistory | undefined;
  readonly load: Load;
  readonly minutes: readonly LoadMinute[];
  /** In effect. */
  readonly maxReplicas: number;
}

/**
 * Returns the count that the load to come needs: a quantile of what the same time of earlier days needed, each scaled
 * by today's level. Higher loads give higher counts.
 */
export function proposeForecast({ now, forecast, history, load, minutes, maxReplicas }: Given): Proposed {
  if (history === undefined) return silent('the load of the earlier days was not read yet');
  if (history.unusable !== null) return silent(history.unusable);
  const { seasons, leadSeconds } = history;
  if (seasons.length < FEWEST_SEASONS) {
    const days = countOf(seasons.length, 'earlier day');
    return silent(`${days} with the load of this time, at least ${FEWEST_SEASONS} needed`);
  }
  if (minutes.length < FEWEST_MINUTES)
    return silent(
      `the load of ${countOf(minutes.length, 'minute')} is known, at least ${FEWEST_MINUTES} needed`,
    );
  if (!hasRise(seasons, now, leadSeconds)) {
    const rising = `${seasons.filter(isRising).length} of ${countOf(seasons.length, 'earlier day')}`;
    return silent(`the load of ${rising} rises by a quarter from this time, two thirds needed`);
  }
  const level = levelOf(minutes);
  const scaled = seasons.map((season) => ({ season, ...scale(season, level) }));
  scaled.sort((a, b) => a.load - b.load);
  const chosen = scaled[Math.ceil(forecast.quantile * scaled.length) - 1];
  if (chosen === undefined) return silent('the quantile is outside of the earlier days');
  const cap = ABOVE_HIGHEST * history.highest;
  const expected = Math.min(chosen.load, cap);
  const needed = ceilCount(expected / load.ofPod);
  const replicas = Math.min(maxReplicas, needed);
  const { at, load: seen } = chosen.season;
  const loads = seasons.map((season) => season.load);
  const why = [
    `at ${localTime(at, forecast).slice(11)} of ${describeDays(seasons, now, { forecast, leadSeconds })} ${load.metric} needed `,
    `${amount(Math.min(...loads))} to ${amount(Math.max(...loads))}${load.unit}; `,
    `today is at ${Math.round(100 * chosen.ratio)} % of ${localTime(at, forecast).slice(0, 10)}, which needed `,
    `${amount(seen)}: ${amount(expected)}${load.unit}`,
    expected < chosen.load ? ` (${ABOVE_HIGHEST} times the highest load)` : '',
    ` within ${formatSeconds(leadSeconds)} ${needed === 1 ? 'needs 1 pod' : `need ${needed} pods`} at ${load.usage}`,
    replicas < needed ? `, at most ${replicas}` : '',
  ].join('');
  return { replicas, why };
}

function silent(why: string): Proposed {
  return { replicas: null, why };
}

/** Whether the load of two thirds of the days rises, or that of this weekday in two thirds of the weeks. */
function hasRise(seasons: readonly Season[], now: Instant, leadSeconds: number): boolean {
  const then = addSeconds(now, leadSeconds);
  const weeks = seasons.filter(({ at }) => Math.round(secondsBetween(at, then) / 86_400) % 7 === 0);
  const rises = (days: readonly Season[]): boolean => 3 * days.filter(isRising).length >= 2 * days.length;
  return rises(seasons) || (weeks.length > 1 && rises(weeks));
}

function isRising({ load, level }: Season): boolean {
  return load >= LEAST_RISE * level;
}

function levelOf(minutes: readonly LoadMinute[]): number {
  const [sum, count] = minutes.reduce(([s, c], minute) => [s + minute.sum, c + minute.count], [0, 0]);
  return sum / count;
}

function scale({ load, level }: Season, today: number): { readonly load: number; readonly ratio: number } {
  const ratio = level > 0 ? Math.min(HIGHEST_SCALE, today / level) : 1;
  return { load: load * ratio, ratio };
}

function localTime(at: Instant, { timeZone }: Forecast): string {
  return formatLocal(at, timeZone);
}

/** Returns `7 days and 3 Thursdays`. */
function describeDays(
  seasons: readonly Season[],
  now: Instant,
  { forecast, leadSeconds }: { readonly forecast: Forecast; readonly leadSeconds: number },
): string {
  const isRecent = ({ at }: Season): boolean =>
    secondsBetween(at, addSeconds(now, leadSeconds)) < 7.5 * 86_400;
  const days = seasons.filter(isRecent).length;
  const weeks = seasons.length - days;
  const date = `${localTime(now, forecast).slice(0, 10)}T12:00Z`;
  const weekday = new Intl.DateTimeFormat('en-US', { weekday: 'long', timeZone: 'UTC' }).format(
    Date.parse(date),
  );
  const parts = [days === 0 ? '' : countOf(days, 'day'), weeks === 0 ? '' : countOf(weeks, weekday)];
  return parts.filter((part) => part !== '').join(' and ');
}

/** Three digits are enough for a forecast. */
function amount(load: number): string {
  return formatNumber(Number(load.toPrecision(3)));
}
