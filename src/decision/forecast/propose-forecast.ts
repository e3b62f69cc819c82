import type { Forecast } from '../../scaler/spec.js';
import { localDate } from '../../schedules/local-time.js';
import { countOf, formatSeconds } from '../../units/format.js';
import { addSeconds, formatSecond, type Instant, secondsBetween } from '../../units/time.js';
import type { LoadHistory, LoadMinute, Season } from '../snapshot/snapshot.js';
import { ceilCount } from '../proposals/arithmetic.js';
import type { Load } from './load.js';
import { FEWEST_SEASONS } from './seasons.js';

/**
 * How many of the last ten minutes must have a value. From fewer minutes, the current load is not known well enough.
 */
const FEWEST_MINUTES = 5;

/**
 * The load of a day must rise to this multiple of its level. Smaller rises are ignored: the running pods can carry
 * them, and pods for each small rise would add up.
 */
const LEAST_RISE = 1.25;

/** Upper limit of the factor by which the load of an earlier day is scaled to today's level. */
const HIGHEST_SCALE = 2;

/** Upper limit of the expected load, as a multiple of the highest load in the lookback. */
const ABOVE_HIGHEST = 1.2;

export interface Proposed {
  /** The replicas for the expected load; null: there is no forecast. */
  readonly replicas: number | null;
  /** The calculation, or why there is no forecast; part of a sentence. */
  readonly why: string;
}

export interface Given {
  readonly now: Instant;
  readonly forecast: Forecast;
  readonly history: LoadHistory | undefined;
  readonly load: Load;
  readonly minutes: readonly LoadMinute[];
  readonly maxReplicas: number;
}

/**
 * Returns the replicas for the expected load. The expected load is a quantile of the loads that earlier days had at
 * this time, each scaled to today's level. A higher load never gives a lower count.
 */
export function proposeForecast({ now, forecast, history, load, minutes, maxReplicas }: Given): Proposed {
  if (history === undefined) return silent('the loads of earlier days have not been read yet');
  const unknown = whyUnknown(history, minutes);
  if (unknown !== null) return silent(unknown);
  const { seasons, leadSeconds } = history;
  if (!hasRise(seasons, now, leadSeconds)) {
    const rising = `${seasons.filter(isRising).length} of ${countOf(seasons.length, 'earlier day')}`;
    return silent(
      `the load rises by at least a quarter after this time on ${rising}; the forecast needs two thirds of the days`,
    );
  }
  const level = levelOf(minutes);
  const scaled = seasons.map((season) => ({ season, ...scale(season, level) }));
  scaled.sort((a, b) => a.load - b.load);
  const chosen = scaled[rankOf(forecast, scaled.length)];
  if (chosen === undefined) return silent('no earlier day has a known load at this time');
  const expected = Math.min(chosen.load, ABOVE_HIGHEST * history.highest);
  const needed = podsFor(expected, load.ofPod);
  const replicas = Math.min(maxReplicas, needed);
  const { at, load: seen } = chosen.season;
  const limit = expected < chosen.load ? history.highest : null;
  const digits = digitsOf({ ...chosen, seen, limit, expected, ofPod: load.ofPod, needed });
  const factor = (one: number): string => amount(one, digits.ofFactors);
  const result = (one: number): string => `${amount(one, digits.ofResults)}${load.unit}`;
  const loads = seasons.map((season) => season.load);
  const lead = formatSeconds(leadSeconds);
  const why = [
    `${lead} after this time of day, the load of ${load.metric} was `,
    `${factor(Math.min(...loads))} to ${factor(Math.max(...loads))}${load.unit} `,
    `on ${describeDays(seasons, now, { forecast, leadSeconds })}, such as ${factor(seen)} at ${formatSecond(at)}; `,
    chosen.ratio === null
      ? 'the load on that day was 0 at this time'
      : `the load today is ${factor(100 * chosen.ratio)} %${chosen.ratio > HIGHEST_SCALE ? ` (at most ${100 * HIGHEST_SCALE} %)` : ''} of the load on that day`,
    `: the load expected within ${lead} is ${result(chosen.load)}`,
    limit === null
      ? ''
      : `, limited to ${result(expected)} (${ABOVE_HIGHEST} times the highest load of ${factor(limit)})`,
    `, which needs ${countOf(needed, 'pod')} at ${load.usage} `,
    `(${factor(load.ofPod)}${load.unit}${needed === 1 ? '' : ' each'})`,
    replicas < needed ? `, at most ${replicas}` : '',
  ].join('');
  return { replicas, why };
}

function silent(why: string): Proposed {
  return { replicas: null, why };
}

export interface ExpectedLoad {
  /** The lowest load of the earlier days, scaled to today's level. */
  readonly low: number;
  /** The quantile of these loads for which the forecast plans. */
  readonly expected: number;
  readonly high: number;
}

export interface LoadAhead {
  /** The history that a decision made now would use. */
  readonly history: LoadHistory;
  readonly later: readonly LaterSeasons[];
}

interface LaterSeasons {
  readonly at: Instant;
  /** Seconds from now until the decision that plans for the load at `at`; negative: that decision was in the past. */
  readonly seconds: number;
  readonly seasons: readonly Season[];
}

/**
 * Returns the load expected at the end of the lead time, even if it does not rise; null: too few loads are known. The
 * second argument selects a later time. The load is scaled to the current level at a later time, too.
 */
export function expectLoad(
  { forecast, history, minutes }: Pick<Given, 'forecast' | 'minutes'> & { readonly history: LoadHistory },
  { seasons, seconds }: Omit<LaterSeasons, 'at'> = { seasons: history.seasons, seconds: 0 },
): ExpectedLoad | null {
  if (whyUnknown(history, minutes) !== null) return null;
  const level = levelOf(minutes);
  const cap = ABOVE_HIGHEST * history.highest;
  const ratios = new Map(history.seasons.map((season) => [season.at, scale(season, level).ratio]));
  const loads = seasons.flatMap(({ at, load }) => {
    const ratio = ratios.get(addSeconds(at, -seconds));
    return ratio === undefined ? [] : [Math.min(cap, limitedScale(ratio) * load)];
  });
  loads.sort((a, b) => a - b);
  const [low, expected, high] = [loads[0], loads[rankOf(forecast, loads.length)], loads.at(-1)];
  if (loads.length < FEWEST_SEASONS || low === undefined || expected === undefined || high === undefined)
    return null;
  return { low, expected, high };
}

function rankOf({ quantile }: Forecast, count: number): number {
  return Math.ceil(quantile * count) - 1;
}

/** Returns why the load of the future is unknown; null: it can be expected. */
function whyUnknown({ unusable, seasons }: LoadHistory, minutes: readonly LoadMinute[]): string | null {
  if (unusable !== null) return unusable;
  if (seasons.length < FEWEST_SEASONS) {
    const days = countOf(seasons.length, 'earlier day');
    return `the load at this time is known for ${days}; the forecast needs at least ${FEWEST_SEASONS}`;
  }
  return minutes.length < FEWEST_MINUTES
    ? `the load is known for ${countOf(minutes.length, 'minute')}; the forecast needs at least ${FEWEST_MINUTES}`
    : null;
}

/**
 * Returns whether the load rises on at least two thirds of the days. Two thirds of the days with the same weekday as
 * now are also enough, if there are at least two such days.
 */
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

interface Scaled {
  readonly load: number;
  /** Today's level divided by the level of the earlier day; null: the earlier level was 0. */
  readonly ratio: number | null;
}

function scale({ load, level }: Season, today: number): Scaled {
  const ratio = level > 0 ? today / level : null;
  return { load: load * limitedScale(ratio), ratio };
}

function limitedScale(ratio: number | null): number {
  return ratio === null ? 1 : Math.min(HIGHEST_SCALE, ratio);
}

const WEEKDAY = new Intl.DateTimeFormat('en-US', { weekday: 'long', timeZone: 'UTC' });

/** Returns the days in words: `7 days and 3 Thursdays`. */
function describeDays(
  seasons: readonly Season[],
  now: Instant,
  { forecast, leadSeconds }: { readonly forecast: Forecast; readonly leadSeconds: number },
): string {
  const isRecent = ({ at }: Season): boolean =>
    secondsBetween(at, addSeconds(now, leadSeconds)) < 7.5 * 86_400;
  const days = seasons.filter(isRecent).length;
  const weeks = seasons.length - days;
  const date = `${localDate(now, forecast.timeZone)}T12:00Z`;
  const weekday = WEEKDAY.format(Date.parse(date));
  const parts = [days === 0 ? '' : countOf(days, 'day'), weeks === 0 ? '' : countOf(weeks, weekday)];
  return parts.filter((part) => part !== '').join(' and ');
}

/**
 * Returns the pods for a load, rounded up. Rounds the quotient first: 362.5 / 0.001 is 362500.00000000006 in binary
 * floating point, but 362,500 pods are enough.
 */
function podsFor(load: number, ofPod: number): number {
  return ceilCount(roundTo(load / ofPod, MOST_DIGITS));
}

function amount(load: number, digits: number): string {
  return String(roundTo(load, digits));
}

/**
 * Rounds to `digits` significant digits. Numbers from 1000 to 9999 keep all four digits, so that 1234 does not become
 * 1230.
 */
function roundTo(value: number, digits: number): number {
  return Number(value.toPrecision(value >= 1000 && value < 10_000 ? Math.max(4, digits) : digits));
}

/**
 * Upper limit of significant digits: longer numbers are hard to read, and rounding errors of doubles can show in later
 * digits.
 */
const MOST_DIGITS = 12;

interface Digits {
  readonly ofFactors: number;
  readonly ofResults: number;
}

/**
 * Returns the fewest significant digits, at least three, with which a reader can check the sentence: the printed
 * factors give the printed results.
 */
function digitsOf({
  load,
  ratio,
  seen,
  limit,
  expected,
  ofPod,
  needed,
}: Scaled & {
  readonly seen: number;
  /** The highest load in the lookback, if it limits the expected load; otherwise null. */
  readonly limit: number | null;
  readonly expected: number;
  readonly ofPod: number;
  readonly needed: number;
}): Digits {
  const percent = 100 * limitedScale(ratio);
  for (let ofResults = 3; ofResults < MOST_DIGITS; ofResults += 1) {
    const isResult = (value: number, result: number): boolean =>
      roundTo(value, ofResults) === roundTo(result, ofResults);
    for (let ofFactors = ofResults; ofFactors <= Math.min(MOST_DIGITS, ofResults + 3); ofFactors += 1) {
      const factor = (value: number): number => roundTo(value, ofFactors);
      if (
        isResult((factor(percent) * factor(seen)) / 100, load) &&
        (limit === null || isResult(ABOVE_HIGHEST * factor(limit), expected)) &&
        podsFor(roundTo(expected, ofResults), factor(ofPod)) === needed
      )
        return { ofFactors, ofResults };
    }
  }
  return { ofFactors: MOST_DIGITS, ofResults: MOST_DIGITS };
}
