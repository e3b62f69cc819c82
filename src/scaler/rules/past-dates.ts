import { instantOfLocal, isTimeZone, parseLocalTime, parseRange } from '../../schedules/local-time.js';
import type { Instant } from '../../units/time.js';
import { type Finding, type Path, finding, formatPath } from '../problems/finding.js';
import { isPlainObject, valueAt } from '../plain-json.js';
import { BUILT_IN } from '../schema/presets.js';

const DAY_MS = 86_400_000;

/** The schema rejects longer lists. */
const MAX_ENTRIES = 400;

export function findPastDates(document: unknown, now: Instant): readonly Finding[] {
  const schedules = valueAt(document, ['spec', 'schedules']);
  if (!Array.isArray(schedules)) return [];
  return schedules.slice(0, MAX_ENTRIES).flatMap((schedule: unknown, index) => {
    if (!isPlainObject(schedule)) return [];
    const { timeZone = BUILT_IN.timeZone, exceptions, dates } = schedule;
    if (typeof timeZone !== 'string' || !isTimeZone(timeZone)) return [];
    const path = ['spec', 'schedules', index];
    return [
      ...pastExceptions(exceptions, { timeZone, now, path: [...path, 'exceptions'] }),
      ...pastRanges(dates, { timeZone, now, path: [...path, 'dates'] }),
    ];
  });
}

interface Where {
  readonly timeZone: string;
  readonly now: Instant;
  readonly path: Path;
}

function pastExceptions(exceptions: unknown, { timeZone, now, path }: Where): readonly Finding[] {
  if (!Array.isArray(exceptions)) return [];
  return exceptions.slice(0, MAX_ENTRIES).flatMap((text: unknown, index) => {
    const local = typeof text === 'string' ? parseLocalTime(text) : null;
    if (local === null || instantOfLocal(local.ms + DAY_MS, timeZone) > now) return [];
    return [isOver([...path, index], String(text))];
  });
}

function pastRanges(dates: unknown, { timeZone, now, path }: Where): readonly Finding[] {
  if (!Array.isArray(dates)) return [];
  return dates.slice(0, MAX_ENTRIES).flatMap((range: unknown, index) => {
    const [start, end] = isPlainObject(range) ? [range['start'], range['end']] : [];
    const parsed =
      typeof start === 'string' && typeof end === 'string' ? parseRange(start, end, timeZone) : null;
    if (parsed === null || parsed.end > now) return [];
    return [isOver([...path, index], `${String(start)} to ${String(end)}`)];
  });
}

function isOver(path: Path, text: string): Finding {
  return finding('schedule-past', path, `${formatPath(path)} (${text}) is in the past`);
}
