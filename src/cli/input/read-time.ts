import {
  addSeconds,
  DURATION_FORM,
  type Instant,
  instantFromMs,
  parseDuration,
  parseInstant,
} from '../../units/time.js';
import { usageError } from '../output/io.js';

/** How messages describe a local time. */
export const LOCAL_TIME_FORM = 'a local time such as 10:42:30 or "Nov 23, 10:42:30"';

const LOCAL_TIME = /^(?:([a-z]{3}) (\d{1,2}),?(?: (\d{4}),?)? )?(\d{1,2}):(\d{2})(?::(\d{2}))?$/i;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/**
 * Reads a time of `formatLocal`, with or without seconds. If the text has no date or no year, returns the last such
 * time up to `now`, or the next such time after `now`. Null: the text is no local time.
 */
export function readLocalTime(text: string, now: Instant, which: 'last' | 'next'): Instant | null {
  const match = LOCAL_TIME.exec(text);
  if (match === null) return null;
  const [, month, day, year, hours, minutes, seconds = 0] = match;
  const [hour, minute, second] = [Number(hours), Number(minutes), Number(seconds)];
  if (hour > 23 || minute > 59 || second > 59) return null;
  const time = new Date(now);
  if (month !== undefined) {
    const index = MONTHS.indexOf(month.toLowerCase());
    time.setFullYear(Number(year ?? time.getFullYear()), index, Number(day));
    if (time.getMonth() !== index) return null;
  }
  time.setHours(hour, minute, second, 0);
  const step = (which === 'next' ? 1 : 0) - (time.getTime() <= now ? 0 : 1);
  if (month === undefined) time.setDate(time.getDate() + step);
  else if (year === undefined) time.setFullYear(time.getFullYear() + step);
  return instantFromMs(time.getTime());
}

/**
 * Parses the value of an option: an RFC 3339 time, a local time (its last occurrence), or a duration before `before`
 * (`10m`, `1h30m`). The result may be later than `before`. Throws `CommandError` for any other format.
 */
export function readPastTime(option: string, text: string, before: Instant): Instant {
  const time = parseInstant(text) ?? readLocalTime(text, before, 'last');
  if (time !== null) return time;
  const seconds = parseDuration(text);
  if (seconds !== null) return addSeconds(before, -seconds);
  throw usageError(
    `${option} is ${JSON.stringify(text)}, must be a time such as 2026-01-01T10:42:30Z, ${LOCAL_TIME_FORM}, or ${DURATION_FORM} (ago)`,
  );
}
