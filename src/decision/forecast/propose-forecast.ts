import type { Forecast } from '../../scaler/spec.js';
import { formatLocal } from '../../schedules/local-time.js';
import { countOf } from '../../units/count-of.js';
import { formatNumber } from '../../units/format-amount.js';
import type { LoadHistory, LoadMinute, Season } from '../snapshot/snapshot.js';
import { ceilCount } from '../proposals/arithmetic.js';
import type { Load } from './load.js';

/** Fewer earlier days say too little about this one. */
const FEWEST_SEASONS = 3;

/** Of the last ten minutes. */
const FEWEST_MINUTES = 5;

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
  readonly forecast: Forecast;
  readonly history: LoadHistory | undefined;
  readonly load: Load;
  /** Name of the metric. */
  readonly metric: string;
  readonly minutes: readonly LoadMinute[];
  /** In effect. */
  readonly maxReplicas: number;
}

/**
 * Returns the count that the load to come needs: a quantile of what the same time of earlier days needed, each scaled
 * by today's level. Higher loads give higher counts.
 */
export function proposeForecast({ forecast, history, load, metric, minutes, maxReplicas }: Given): Proposed {
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
    `at ${formatLocal(at, forecast.timeZone).slice(11)} of ${describeDays(seasons)} ${metric} needed `,
    `${formatNumber(Math.min(...loads))} to ${formatNumber(Math.max(...loads))}; `,
    `on ${formatLocal(at, forecast.timeZone).slice(0, 10)} ${formatNumber(seen)}, `,
    `today is at ${Math.round(100 * chosen.ratio)} %: ${formatNumber(expected)}`,
    expected < chosen.load ? ` (at most ${ABOVE_HIGHEST} times the highest load)` : '',
    ` within ${leadSeconds} s ${needed === 1 ? 'needs 1 pod' : `need ${needed} pods`} of ${formatNumber(load.ofPod)}`,
    replicas < needed ? `, at most ${maxReplicas}` : '',
  ].join('');
  return { replicas, why };
}

function silent(why: string): Proposed {
  return { replicas: null, why };
}

function levelOf(minutes: readonly LoadMinute[]): number {
  const [sum, count] = minutes.reduce(([s, c], minute) => [s + minute.sum, c + minute.count], [0, 0]);
  return sum / count;
}

function scale({ load, level }: Season, today: number): { readonly load: number; readonly ratio: number } {
  const ratio = level > 0 ? Math.min(HIGHEST_SCALE, today / level) : 1;
  return { load: load * ratio, ratio };
}

function describeDays(seasons: readonly Season[]): string {
  return countOf(seasons.length, 'earlier day');
}
