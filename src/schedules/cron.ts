import { Cron } from 'croner';
import { instantFromMs } from '../units/time.js';
import type { Instant } from '../units/time.js';

/** When a cron expression fires, in one time zone. */
export interface Firings {
  /** The first after an instant; null: never again. */
  readonly after: (instant: Instant) => Instant | null;
  /** The last at or before an instant; null: never yet. */
  readonly atOrBefore: (instant: Instant) => Instant | null;
}

/** Longer than any sensible expression: what is longer is not looked at. */
const MAX_LENGTH = 200;
const PARSERS_PREFIX = /^Cron(?:Pattern|Date): /;

/**
 * The firings of a cron expression of five fields (minute, hour, day, month, weekday). A local time that a change to
 * daylight saving leaves out fires when the clocks have been moved; one that comes twice fires the first time only,
 * but for steps and lists. Throws a `CronError` on what is no such expression and on one that never fires.
 */
export function readCron(expression: string, timeZone: string): Firings {
  if (expression.length > MAX_LENGTH) throw new CronError(`is longer than ${MAX_LENGTH} characters`);
  const cron = parse(expression, timeZone);
  const after: Firings['after'] = (instant) => {
    const date = cron.nextRun(new Date(instant));
    return date === null ? null : instantFromMs(date.getTime());
  };
  const atOrBefore: Firings['atOrBefore'] = (instant) => {
    const [date] = cron.previousRuns(1, new Date(instant + 1));
    return date === undefined ? null : instantFromMs(date.getTime());
  };
  // A leap day comes within eight years of any instant.
  if (after(instantFromMs(0)) === null) throw new CronError('never fires');
  return { after, atOrBefore };
}

/** Why a text is no cron expression; the message goes on after the text: `is ...`. */
export class CronError extends Error {
  override name = 'CronError';
}

function parse(expression: string, timeZone: string): Cron {
  if (expression.trim().split(/\s+/).length !== 5)
    throw new CronError('must have five fields: minute, hour, day of month, month, day of week');
  try {
    return new Cron(expression, { timezone: timeZone, mode: '5-part', paused: true });
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new CronError(`is no cron expression: ${message.replace(PARSERS_PREFIX, '')}`, { cause });
  }
}
