import { CronError, readCron } from '../../schedules/cron.js';
import { instantOfLocal, isTimeZone, parseLocalTime, parseRange } from '../../schedules/local-time.js';
import type { Instant } from '../../units/time.js';
import { isPlainObject, valueAt } from '../plain-json.js';
import {
  type Finding,
  finding,
  formatPath,
  formatValue,
  type IsBroken,
  type Path,
} from '../problems/finding.js';
import { didYouMean } from '../problems/nearest.js';
import type { Loose, SpecInput } from '../schema/document-schema.js';
import { BUILT_IN } from '../schema/presets.js';
import type { ScheduleInput } from '../schema/schedule-schema.js';

const DAY_MS = 86_400_000;

/**
 * Limits how many schedules are checked, and how many exceptions and dates of each. The schema rejects longer lists.
 */
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

/**
 * Number of wrong expressions after which no further schedules are checked, because it takes 5 to 40 ms to detect that
 * an expression never matches a time.
 */
const MAX_WRONG_CRONS = 3;

type LooseSchedule = Loose<ScheduleInput>;

interface Place {
  readonly path: Path;
  readonly isBroken: IsBroken;
}

export function checkSchedules(spec: Loose<SpecInput>, isBroken: IsBroken): readonly Finding[] {
  const seen = new Set<string>();
  let wrongCrons = 0;
  return (spec.schedules ?? []).flatMap((schedule, index) => {
    if (schedule === undefined || wrongCrons >= MAX_WRONG_CRONS) return [];
    const context = { path: ['spec', 'schedules', index], isBroken };
    const isSecond = schedule.name !== undefined && seen.has(schedule.name);
    if (schedule.name !== undefined) seen.add(schedule.name);
    const times = checkTimes(schedule, context);
    wrongCrons += times.filter(({ code }) => code === 'cron').length;
    return [
      ...(isSecond ? [duplicate(context.path, schedule.name)] : []),
      ...times,
      ...checkBounds(schedule, spec, context),
    ];
  });
}

function duplicate(path: Path, name: string | undefined): Finding {
  const message = `${formatPath(path)}.name is ${formatValue(name)}, must be unique: an earlier schedule has this name`;
  return finding('duplicate-schedule', [...path, 'name'], message);
}

function checkTimes(schedule: LooseSchedule, { path, isBroken }: Place): readonly Finding[] {
  const { start, end, dates, timeZone = BUILT_IN.timeZone } = schedule;
  const name = formatPath(path);
  const has = (field: string): boolean => isBroken([...path, field]);
  if ((start === undefined) !== (end === undefined) && !has('start') && !has('end')) {
    const [there, missing] = start === undefined ? ['end', 'start'] : ['start', 'end'];
    return [finding('schedule-times', path, `${name} has ${there}, but no ${missing}: set both`)];
  }
  if (start === undefined && dates === undefined && !has('start') && !has('dates')) {
    const message = `${name} has no times: set start and end (cron expressions of five fields), or dates`;
    return [finding('schedule-times', path, message)];
  }
  // The time zone is unknown, so the other fields are checked as if it were UTC.
  if (!isTimeZone(timeZone))
    return [
      unknownTimeZone([...path, 'timeZone'], timeZone),
      ...checkTimes({ ...schedule, timeZone: BUILT_IN.timeZone }, { path, isBroken }),
    ];
  return [
    ...checkCron(start, timeZone, [...path, 'start']),
    ...checkCron(end, timeZone, [...path, 'end']),
    ...checkGap(schedule, timeZone, path),
    ...checkExceptions(schedule, path),
    ...checkDates(schedule, timeZone, path),
  ];
}

export function unknownTimeZone(path: Path, timeZone: string): Finding {
  const hint = didYouMean(timeZone, Intl.supportedValuesOf('timeZone'));
  const message = `${formatPath(path)} is ${formatValue(timeZone)}, must be an IANA time zone, such as Europe/Warsaw${hint}`;
  return finding('unknown-time-zone', path, message);
}

/** Returns a finding unless the expression is a valid cron expression in its time zone. */
export function checkCron(expression: string | undefined, timeZone: string, path: Path): readonly Finding[] {
  if (expression === undefined) return [];
  try {
    readCron(expression, timeZone);
    return [];
  } catch (error) {
    if (!(error instanceof CronError)) throw error;
    const message = `${formatPath(path)}: ${formatValue(expression)} ${error.message}`;
    return [finding('cron', path, message)];
  }
}

/**
 * Warns if start and end are equal, because such a schedule is always active: if both are `0 0 * * 1-5`, also on
 * weekends. Exceptions interrupt the schedule, so a schedule with exceptions causes no warning.
 */
function checkGap(
  { start, end, exceptions = [] }: LooseSchedule,
  timeZone: string,
  path: Path,
): readonly Finding[] {
  const words = (text: string): string => text.trim().split(/\s+/).join(' ');
  if (start === undefined || end === undefined || exceptions.length > 0) return [];
  if (words(start) !== words(end) || checkCron(start, timeZone, path).length > 0) return [];
  const message = `${formatPath([...path, 'end'])} is ${formatValue(end)}, the same as start: each period lasts until the next start, so the schedule is always active`;
  return [finding('schedule-always', [...path, 'end'], message)];
}

function checkExceptions({ exceptions, start }: LooseSchedule, path: Path): readonly Finding[] {
  const findings: Finding[] = [];
  (exceptions ?? []).forEach((text, index) => {
    const local = text === undefined ? null : parseLocalTime(text);
    if (text === undefined || (local !== null && !local.hasTime)) return;
    const at = [...path, 'exceptions', index];
    const message = `${formatPath(at)} is ${formatValue(text)}, must be a date such as 2026-12-25`;
    findings.push(finding('schedule-date', at, message));
  });
  if ((exceptions ?? []).length > 0 && start === undefined) {
    const at = [...path, 'exceptions'];
    const message = `${formatPath(at)} has no effect without start: exceptions apply only to periods of start and end`;
    findings.push(finding('schedule-times', at, message));
  }
  return findings;
}

function checkDates({ dates }: LooseSchedule, timeZone: string, path: Path): readonly Finding[] {
  return (dates ?? []).flatMap((range, index) => {
    if (range?.start === undefined || range.end === undefined) return [];
    const at = [...path, 'dates', index];
    const wrong = (['start', 'end'] as const).filter((field) => parseLocalTime(range[field] ?? '') === null);
    if (wrong.length > 0)
      return wrong.map((field) => {
        const shown = `${formatPath([...at, field])} is ${formatValue(range[field])}`;
        const message = `${shown}, must be a local date or time such as 2026-11-27 or 2026-11-27T06:00`;
        return finding('schedule-date', [...at, field], message);
      });
    const parsed = parseRange(range.start, range.end, timeZone);
    if (parsed !== null && parsed.start < parsed.end) return [];
    if (parsed !== null) {
      const times = `${range.start} to ${range.end}`;
      const message = `${formatPath(at)} (${times}) is skipped by a clock change in ${timeZone}: this period is never active`;
      return [finding('schedule-left-out', at, message)];
    }
    const message = `${formatPath([...at, 'end'])} is ${range.end}, must be later than its start (${range.start})`;
    return [finding('schedule-date', [...at, 'end'], message)];
  });
}

function checkBounds(
  schedule: LooseSchedule,
  spec: Loose<SpecInput>,
  { path, isBroken }: Place,
): readonly Finding[] {
  const { minReplicas: min, maxReplicas: max } = schedule;
  const name = formatPath(path);
  if (min === undefined && max === undefined) {
    if (isBroken([...path, 'minReplicas']) || isBroken([...path, 'maxReplicas'])) return [];
    return [finding('schedule-bounds', path, `${name} has no effect: set minReplicas or maxReplicas`)];
  }
  const ceiling = max ?? spec.maxReplicas;
  if (min !== undefined && ceiling !== undefined && min > ceiling) {
    const of = max === undefined ? 'spec.maxReplicas' : `${name}.maxReplicas`;
    const message = `${name}.minReplicas is ${min}, must be at most ${of} (${ceiling})`;
    return [finding('replica-bounds', [...path, 'minReplicas'], message)];
  }
  const floor = min ?? spec.minReplicas ?? 1;
  if (max !== undefined && floor > max) {
    const message = `${name}.maxReplicas is ${max}, must be at least spec.minReplicas (${floor})`;
    return [finding('replica-bounds', [...path, 'maxReplicas'], message)];
  }
  return [];
}
