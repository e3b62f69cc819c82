import { addSeconds, instantFromMs, type Instant } from '../units/time.js';
import { readCron, type CronTimes } from './cron.js';
import { skippedAt, localDate } from './local-time.js';
import type { Occurrence, Schedule } from './schedule.js';

interface Around {
  /** The last occurrence that has started. It may have ended already. */
  readonly last: Occurrence | null;
  readonly next: Occurrence | null;
}

/** Limits the successive exceptions that are skipped. The exceptions of a document are fewer. */
const MAX_SKIPPED = 1000;

interface Recurrence {
  readonly starts: CronTimes;
  readonly ends: CronTimes;
  /** The last result. It stays valid from its `last.start` until its `next.start`. */
  found: Around | null;
}

/** Size at which the cache is cleared. A service has fewer schedules. */
const MAX_REMEMBERED = 10_000;

/**
 * Schedules with the same times share the parsed expressions and the results: a thousand schedules may start at 8:00.
 */
const recurrences = new Map<string, Recurrence>();
const recurrenceOfSchedule = new WeakMap<Schedule, Recurrence>();

/**
 * Returns the recurring occurrences around an instant. An occurrence starts at each start that is not an exception, and
 * ends at the first end after it.
 */
export function recurringAround(schedule: Schedule, now: Instant): Around {
  const recurrence = recurrenceOf(schedule);
  if (recurrence === null) return { last: null, next: null };
  const { found } = recurrence;
  if (found !== null && holdsAt(found, now)) return found;
  recurrence.found = moveOn(schedule, recurrence, now) ?? {
    last: lastBefore(schedule, recurrence, now),
    next: nextAfter(schedule, recurrence, now),
  };
  return recurrence.found;
}

/**
 * Returns the first `count` occurrences that end after an instant, both recurring occurrences and dates, sorted by
 * their start. The first occurrence may be active.
 */
export function nextOccurrences(schedule: Schedule, now: Instant, count: number): readonly Occurrence[] {
  const found = schedule.dates.filter(({ end }) => end > now);
  const { last, next: following } = recurringAround(schedule, now);
  if (last !== null && last.end > now) found.push(last);
  let next = following;
  const recurrence = recurrenceOf(schedule);
  for (let index = 0; index < count && next !== null && recurrence !== null; index += 1) {
    found.push(next);
    next = nextAfter(schedule, recurrence, next.start);
  }
  return found.sort((a, b) => a.start - b.start).slice(0, count);
}

function recurrenceOf(schedule: Schedule): Recurrence | null {
  const { recurring, timeZone, exceptions } = schedule;
  if (recurring === null) return null;
  const known = recurrenceOfSchedule.get(schedule);
  if (known !== undefined) return known;
  const { start, end } = recurring;
  const key = JSON.stringify([start, end, timeZone, exceptions]);
  let recurrence = recurrences.get(key);
  if (recurrence === undefined) {
    if (recurrences.size >= MAX_REMEMBERED) recurrences.clear();
    recurrence = { starts: readCron(start, timeZone), ends: readCron(end, timeZone), found: null };
    recurrences.set(key, recurrence);
  }
  recurrenceOfSchedule.set(schedule, recurrence);
  return recurrence;
}

/**
 * Returns the next result, which is faster than a search; null: not exactly one occurrence has started since the last
 * result.
 */
function moveOn(schedule: Schedule, recurrence: Recurrence, now: Instant): Around | null {
  const last = recurrence.found?.next ?? null;
  if (last === null || last.start > now) return null;
  const around = { last, next: nextAfter(schedule, recurrence, last.start) };
  return holdsAt(around, now) ? around : null;
}

function holdsAt({ last, next }: Around, now: Instant): boolean {
  if (last === null && next === null) return true;
  return (last === null ? false : last.start <= now) && (next === null || now < next.start);
}

function lastBefore(schedule: Schedule, { starts, ends }: Recurrence, now: Instant): Occurrence | null {
  let start = starts.atOrBefore(now);
  for (let skipped = 0; start !== null && skipped < MAX_SKIPPED; skipped += 1) {
    const end = endOf(schedule, ends, start);
    if (!isException(schedule, start)) return end === null ? null : { start, end };
    start = starts.atOrBefore(addSeconds(start, -1));
  }
  return null;
}

function nextAfter(schedule: Schedule, { starts, ends }: Recurrence, now: Instant): Occurrence | null {
  let start = starts.after(now);
  for (let skipped = 0; start !== null && skipped < MAX_SKIPPED; skipped += 1) {
    const end = endOf(schedule, ends, start);
    if (!isException(schedule, start)) return end === null ? null : { start, end };
    start = starts.after(start);
  }
  return null;
}

/** Returns the first end after a start. If a clock change skips both, start and end are the same instant. */
function endOf({ recurring, timeZone }: Schedule, ends: CronTimes, start: Instant): Instant | null {
  const skipped = skippedAt(start, timeZone);
  if (skipped !== null && recurring !== null) {
    const written = readCron(recurring.start, 'UTC').atOrBefore(instantFromMs(skipped.to));
    const end = written === null ? null : readCron(recurring.end, 'UTC').after(written);
    if (end !== null && end <= skipped.to) return start;
  }
  return ends.after(start);
}

function isException({ exceptions, timeZone }: Schedule, start: Instant): boolean {
  return exceptions.length > 0 && exceptions.includes(localDate(start, timeZone));
}
