import { Cron } from 'croner';
import { instantFromMs, type Instant } from '../units/time.js';
import { errorMessage } from '../units/failure.js';

export interface CronTimes {
  readonly after: (instant: Instant) => Instant | null;
  readonly atOrBefore: (instant: Instant) => Instant | null;
}

/** Longest expression that is parsed. */
const MAX_LENGTH = 200;
const PARSERS_PREFIX = /^Cron(?:Pattern|Date): /;

/**
 * Parses a cron expression with five fields (minute, hour, day, month, weekday). If a clock change skips a local time,
 * the expression fires at the change. If a local time occurs twice, an expression whose minute and hour are single
 * numbers fires only the first time. An expression with `*`, a range, a step or a list in the minute or the hour fires
 * both times. Throws a `CronError` if the expression is invalid or never matches a time.
 */
export function readCron(expression: string, timeZone: string): CronTimes {
  if (expression.length > MAX_LENGTH) throw new CronError(`is longer than ${MAX_LENGTH} characters`);
  const cron = parse(expression, timeZone);
  const after: CronTimes['after'] = (instant) => {
    const date = cron.nextRun(new Date(instant));
    return date === null ? null : instantFromMs(date.getTime());
  };
  const atOrBefore: CronTimes['atOrBefore'] = (instant) => {
    const [date] = cron.previousRuns(1, new Date(instant + 1));
    return date === undefined ? null : instantFromMs(date.getTime());
  };
  // The search can start in 1970: each date occurs within eight years of any time, even 29 February.
  if (after(instantFromMs(0)) === null) throw new CronError('never matches a time');
  return { after, atOrBefore };
}

/** The message continues a sentence whose subject is the expression, such as `is longer than 200 characters`. */
export class CronError extends Error {
  override name = 'CronError';
}

function parse(expression: string, timeZone: string): Cron {
  if (expression.trim().split(/\s+/).length !== 5)
    throw new CronError('must have five fields: minute, hour, day of month, month, day of week');
  try {
    return new Cron(expression, { timezone: timeZone, mode: '5-part', paused: true });
  } catch (cause) {
    const message = errorMessage(cause);
    throw new CronError(`is not a cron expression: ${message.replace(PARSERS_PREFIX, '')}`, { cause });
  }
}
