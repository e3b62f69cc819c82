import {
  addSeconds,
  DURATION_FORM,
  formatInstant,
  type Instant,
  instantFromMs,
  parseDuration,
  parseInstant,
} from '../../units/time.js';
import { CommandError } from '../output/io.js';

const TIME_OF_DAY = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/;

/**
 * Parses the value of `--at`: an RFC 3339 time, a local time of day (its last occurrence before `now`), or a duration
 * before `now` (`10m`, `1h30m`). Throws `CommandError` for any other format and for a time in the future.
 */
export function parsePastTime(text: string, now: Instant): Instant {
  const time = parseInstant(text) ?? lastTimeOfDay(text, now) ?? secondsAgo(text, now);
  if (time === null)
    throw new CommandError(
      `--at is ${JSON.stringify(text)}, must be a time such as 2026-01-01T10:42:30Z, a time of day such as 10:42:30 (local), or ${DURATION_FORM} (ago)`,
      2,
    );
  if (time > now)
    throw new CommandError(`--at ${text} is in the future: the time is ${formatInstant(now)}`, 2);
  return time;
}

function lastTimeOfDay(text: string, now: Instant): Instant | null {
  const match = TIME_OF_DAY.exec(text);
  if (match === null) return null;
  const [hour, minute, second] = [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)];
  if (hour > 23 || minute > 59 || second > 59) return null;
  const time = new Date(now);
  time.setHours(hour, minute, second, 0);
  if (time.getTime() > now) time.setDate(time.getDate() - 1);
  return instantFromMs(time.getTime());
}

function secondsAgo(text: string, now: Instant): Instant | null {
  const seconds = parseDuration(text);
  return seconds === null ? null : addSeconds(now, -seconds);
}
