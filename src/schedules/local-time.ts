import { instantFromMs, type Instant } from '../units/time.js';
import type { Occurrence } from './schedule.js';

const LOCAL = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2}))?)?$/;
const DAY_MS = 86_400_000;

/** A local date, with or without a time of day: `2026-11-27`, `2026-11-27T06:00`. */
interface LocalTime {
  /** The local time in milliseconds since the epoch, as if it were UTC. */
  readonly ms: number;
  readonly hasTime: boolean;
}

/** Parses a local date or time; null: it does not exist. */
export function parseLocalTime(text: string): LocalTime | null {
  const [, date, time = '00:00', second = '00'] = LOCAL.exec(text) ?? [];
  if (date === undefined) return null;
  const ms = Date.parse(`${date}T${time}:${second}Z`);
  const readsBack = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(`${date}T${time}:${second}`);
  return readsBack ? { ms, hasTime: text.length > date.length } : null;
}

/**
 * Returns the period between two local times. An end without a time of day includes the whole day. Null: a time is
 * invalid, or the end is not after the start. If a clock change skips both times, `start` and `end` are the same
 * instant.
 */
export function parseRange(from: string, to: string, timeZone: string): Occurrence | null {
  const [first, last] = [parseLocalTime(from), parseLocalTime(to)];
  if (first === null || last === null) return null;
  const endMs = last.hasTime ? last.ms : last.ms + DAY_MS;
  if (endMs <= first.ms) return null;
  return { start: instantOfLocal(first.ms, timeZone), end: instantOfLocal(endMs, timeZone) };
}

/** Returns whether the system has a time zone with this name. */
export function isTimeZone(name: string): boolean {
  try {
    formatterOf(name);
    return true;
  } catch {
    return false;
  }
}

/** Returns the local date, such as `2026-12-25`. */
export function localDate(instant: Instant, timeZone: string): string {
  return new Date(localMs(instant, timeZone)).toISOString().slice(0, 10);
}

/** Returns the local time without seconds: `2026-11-27T06:00`. */
export function formatLocal(instant: Instant, timeZone: string): string {
  return new Date(localMs(instant, timeZone)).toISOString().slice(0, 16);
}

/**
 * Returns the instant of a local time. If the local time occurs twice, returns the first instant. If a clock change
 * skips the local time, returns the instant of the change. A fixed time of cron has the same rule, so the order of two
 * times does not change.
 */
export function instantOfLocal(local: number, timeZone: string): Instant {
  const offsets = [-DAY_MS, DAY_MS].map((shift) => localMs(local + shift, timeZone) - (local + shift));
  const candidates = offsets.map((offset) => local - offset);
  const exact = candidates.filter((ms) => localMs(ms, timeZone) === local);
  return instantFromMs(exact.length > 0 ? Math.min(...exact) : clockChangeAfter(local, candidates, timeZone));
}

/**
 * Returns the local times that a clock change at this instant skips, in milliseconds as if they were UTC. `from` is the
 * first skipped time, and `to` is the local time after the change. Null: there is no such change.
 */
export function skippedAt(
  instant: Instant,
  timeZone: string,
): { readonly from: number; readonly to: number } | null {
  const from = localMs(instant - 1, timeZone) + 1;
  const to = localMs(instant, timeZone);
  return to > from ? { from, to } : null;
}

/**
 * Returns the first instant after the clock change that skips the local time `local`, by a binary search between the
 * lowest and the highest candidate.
 */
function clockChangeAfter(local: number, candidates: readonly number[], timeZone: string): number {
  let before = Math.min(...candidates);
  let after = Math.max(...candidates);
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (localMs(middle, timeZone) > local) after = middle;
    else before = middle;
  }
  return after;
}

/** Offsets are cached by the minute, because since 1973 clocks have only changed at whole minutes of UTC. */
const MINUTE_MS = 60_000;
const FIRST_MINUTE = Date.UTC(1973, 0, 1) / MINUTE_MS;
const MOST_MINUTES = 10_000;
const offsets = new Map<string, Map<number, number>>();

/**
 * Returns the local time in milliseconds, as if it were UTC. Cached, because forecasts format the same minutes for all
 * scalers.
 */
function localMs(ms: number, timeZone: string): number {
  const minute = Math.floor(ms / MINUTE_MS);
  if (minute < FIRST_MINUTE) return formattedMs(ms, timeZone);
  let ofZone = offsets.get(timeZone);
  if (ofZone === undefined || ofZone.size >= MOST_MINUTES) {
    ofZone = new Map();
    offsets.set(timeZone, ofZone);
  }
  let offset = ofZone.get(minute);
  if (offset === undefined) {
    offset = formattedMs(minute * MINUTE_MS, timeZone) - minute * MINUTE_MS;
    ofZone.set(minute, offset);
  }
  return ms + offset;
}

function formattedMs(ms: number, timeZone: string): number {
  const parts = formatterOf(timeZone).formatToParts(ms);
  const part = (type: Intl.DateTimeFormatPartTypes): number =>
    Number(parts.find((one) => one.type === type)?.value);
  return Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
    ms - Math.floor(ms / 1000) * 1000,
  );
}

const formatters = new Map<string, Intl.DateTimeFormat>();

/** Throws a RangeError if the time zone is unknown. */
function formatterOf(timeZone: string): Intl.DateTimeFormat {
  let formatter = formatters.get(timeZone);
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formatters.set(timeZone, formatter);
  }
  return formatter;
}
