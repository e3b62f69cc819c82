import {
  addSeconds,
  DURATION_FORM,
  type Instant,
  instantFromMs,
  parseDuration,
  parseInstant,
} from '../../units/time.js';
import { usageError } from '../output/io.js';

/** How messages describe a time of day. */
export const TIME_OF_DAY_FORM = 'a time of day such as 10:42:30 (local)';

const TIME_OF_DAY = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/;

/**
 * Returns the last occurrence of a local time of day (`10:42`, `10:42:30`) up to `now`, or the next one after `now`;
 * null: the text is no time of day.
 */
export function readTimeOfDay(text: string, now: Instant, which: 'last' | 'next'): Instant | null {
  const match = TIME_OF_DAY.exec(text);
  if (match === null) return null;
  const [hour, minute, second] = [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)];
  if (hour > 23 || minute > 59 || second > 59) return null;
  const time = new Date(now);
  time.setHours(hour, minute, second, 0);
  const isPast = time.getTime() <= now;
  if (which === 'last' && !isPast) time.setDate(time.getDate() - 1);
  if (which === 'next' && isPast) time.setDate(time.getDate() + 1);
  return instantFromMs(time.getTime());
}

/**
 * Parses the value of an option: an RFC 3339 time, a local time of day (its last occurrence), or a duration before
 * `before` (`10m`, `1h30m`). The result may be later than `before`. Throws `CommandError` for any other format.
 */
export function readPastTime(option: string, text: string, before: Instant): Instant {
  const time = parseInstant(text) ?? readTimeOfDay(text, before, 'last');
  if (time !== null) return time;
  const seconds = parseDuration(text);
  if (seconds !== null) return addSeconds(before, -seconds);
  throw usageError(
    `${option} is ${JSON.stringify(text)}, must be a time such as 2026-01-01T10:42:30Z, ${TIME_OF_DAY_FORM}, or ${DURATION_FORM} (ago)`,
  );
}
