import { Cron } from 'croner';
import { instantFromMs } from '../units/time.js';
import type { Instant } from '../units/time.js';
import { errorMessage } from '../units/failure.js';

export interface CronTimes {
  readonly after: (instant: Instant) => Instant | null;
  readonly atOrBefore: (instant: Instant) => Instant | null;
}

/** Longer expressions are rejected before parsing. */
const MAX_LENGTH = 200;
const PARSERS_PREFIX = /^Cron(?:Pattern|Date): /;

/**
 * Parses a cron expression with five fields (minute, hour, day, month, weekday). A local time that a clock change skips
 * fires at the change. A local time that occurs twice fires only the first time, except for steps and lists. Throws a
 * `CronError` for an invalid expression, and for an expression that never fires.
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
  // Within eight years of any instant there is a leap day.
  if (after(instantFromMs(0)) === null) throw new CronError('never fires');
  return { after, atOrBefore };
}

/** The message continues a sentence whose subject is the expression: `is ...`. */
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
