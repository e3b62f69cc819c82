import { MAX_POINTS, type Range } from '../../backtest/history/fetch-series.js';
import { warmUpOf } from '../../backtest/history/warm-up.js';
import type { Scaler } from '../../scaler/spec.js';
import { formatInstant, type Instant, secondsBetween } from '../../units/time.js';
import { formatSeconds } from '../../units/format.js';
import { readPastTime } from '../input/read-time.js';
import { usageError } from '../output/io.js';
import { parseSeconds } from './options.js';

const FEWEST_POINTS = 10;
/** Maximum number of days in a range. It also applies to a saved history. */
export const MAX_DAYS = 400;

/** Reads the options for the time range. Throws `CommandError`. */
export function readRange(
  options: { readonly from?: string; readonly to?: string; readonly step?: string },
  given: {
    readonly now: Instant;
    readonly scrapeIntervalSeconds: number;
    readonly scalers: readonly Scaler[];
  },
): Range {
  const { now, scrapeIntervalSeconds, scalers } = given;
  if (options.from === undefined) throw usageError('--prometheus needs --from, such as --from 7d');
  const end = options.to === undefined ? now : readPastTime('--to', options.to, now);
  const start = readPastTime('--from', options.from, end);
  const stepSeconds =
    options.step === undefined ? scrapeIntervalSeconds : parseSeconds('--step', options.step);
  const problem = whyNot({ start, end, stepSeconds }, now);
  if (problem !== null) throw usageError(problem);
  return { start, end, stepSeconds, warmUpSeconds: warmUpOf(scalers, stepSeconds) };
}

function whyNot({ start, end, stepSeconds }: Omit<Range, 'warmUpSeconds'>, now: Instant): string | null {
  const [from, to] = [formatInstant(start), formatInstant(end)];
  if (end > now) return `--to is ${to}, must not be in the future`;
  if (start > now) return `--from is ${from}, must not be in the future`;
  if (start >= end) return `--from is ${from}, must be before --to ${to}`;
  if (stepSeconds < 1) return '--step must be at least 1 s';
  const seconds = secondsBetween(start, end);
  if (seconds > MAX_DAYS * 86_400)
    return `--from to --to is ${formatSeconds(seconds)}, must be at most ${MAX_DAYS} days`;
  const points = seconds / stepSeconds;
  if (points < FEWEST_POINTS)
    return `--from to --to is ${formatSeconds(seconds)}, must be at least ${FEWEST_POINTS} steps of ${stepSeconds} s; set an earlier --from or a shorter --step`;
  if (points > MAX_POINTS)
    return `the time from --from to --to has ${Math.round(points)} steps of ${stepSeconds} s, must have at most ${MAX_POINTS}; set a longer --step`;
  return null;
}
