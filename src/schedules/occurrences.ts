import { addSeconds, instantFromMs } from '../units/time.js';
import type { Instant } from '../units/time.js';
import { readCron } from './cron.js';
import type { Firings } from './cron.js';
import { leftOutAt, localDate } from './local-time.js';
import type { Occurrence, Schedule } from './schedule.js';

/** The occurrences of a schedule on both sides of an instant. */
export interface Around {
  /** The latest that has started, over or not; null: none has. */
  readonly last: Occurrence | null;
  /** The earliest that is to start; null: none will. */
  readonly next: Occurrence | null;
}

/** More exceptions in a row than anybody writes. */
const MAX_SKIPPED = 1000;

interface Recurrence {
  readonly starts: Firings;
  readonly ends: Firings;
  /** What was found last, which holds from its `last.start` until its `next.start`. */
  found: Around | null;
}

/** Far more than a service has; what is forgotten is worked out anew. */
const MAX_REMEMBERED = 10_000;

/**
 * What a text means is worked out once, and what was found around an instant is shared by all schedules of the same
 * times: at eight in the morning a thousand of them begin at once.
 */
const recurrences = new Map<string, Recurrence>();
const recurrenceOfSchedule = new WeakMap<Schedule, Recurrence>();

/** The recurring occurrences around an instant: each from a start that is no exception to the first end after it. */
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

/** The next `count` occurrences that start after an instant, recurring ones and dates, in the order of their starts. */
export function nextOccurrences(schedule: Schedule, now: Instant, count: number): readonly Occurrence[] {
  const found = schedule.dates.filter(({ start }) => start > now);
  let { next } = recurringAround(schedule, now);
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

/** The usual step: what was to start next has started. Null where more has happened. */
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

/**
 * The first end after a start. Of two times that clocks leave out both fire when the clocks are moved: then the end is
 * that very instant, and not the one of the next day.
 */
function endOf({ recurring, timeZone }: Schedule, ends: Firings, start: Instant): Instant | null {
  const leftOut = leftOutAt(start, timeZone);
  if (leftOut !== null && recurring !== null) {
    const written = readCron(recurring.start, 'UTC').atOrBefore(instantFromMs(leftOut.to));
    const end = written === null ? null : readCron(recurring.end, 'UTC').after(written);
    if (end !== null && end <= leftOut.to) return start;
  }
  return ends.after(start);
}

function isException({ exceptions, timeZone }: Schedule, start: Instant): boolean {
  return exceptions.length > 0 && exceptions.includes(localDate(start, timeZone));
}
