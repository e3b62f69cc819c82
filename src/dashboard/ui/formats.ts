import { formatAmount } from '../../units/format.js';
import { formatDay, formatLocal } from '../../units/short-time.js';

/** The text for an unknown value, which must not be shown as 0. */
export const UNKNOWN = '–';

/** Returns a count with thousands separators, such as `1,200`. */
export function formatCount(count: number | null): string {
  return count === null ? UNKNOWN : COUNT.format(count);
}

const COUNT = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

interface MetricAmount {
  readonly name: string;
  readonly unit: 'percent' | 'average' | 'total';
}

/** Returns a metric value as text: percent of the requests (`72 %`), memory (`900Mi`), or a number in base units. */
export function formatMetric(value: number | null, { name, unit }: MetricAmount): string {
  if (value === null) return UNKNOWN;
  if (unit === 'percent') return `${formatAmount(Math.round(value * 10) / 10, '')} %`;
  return formatAmount(value, name);
}

/** Returns for example `1 scaler` or `2 scalers`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** Returns seconds with a suitable unit, such as `12 ms` or `1.4 s`. */
export function formatLatency(seconds: number | null): string {
  if (seconds === null) return UNKNOWN;
  if (seconds < 0.9995) return `${Math.round(seconds * 10_000) / 10} ms`;
  return `${Math.round(seconds * 100) / 100} s`;
}

/** Returns an RFC 3339 time as Unix time in ms; null: the text is not a time. */
export function parseTime(text: string): number | null {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}

const UNITS = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
] as const;

/** Returns a duration in its two largest units, such as `4 min 10 s`, `2 h` or `3 d 4 h`. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const first = UNITS.findIndex(([size]) => whole >= size);
  if (first === -1) return '0 s';
  const [size, name] = UNITS[first] ?? [1, 's'];
  const next = UNITS[first + 1];
  const head = `${Math.floor(whole / size)} ${name}`;
  const rest = next === undefined ? 0 : Math.floor((whole % size) / next[0]);
  return rest === 0 || next === undefined ? head : `${head} ${rest} ${next[1]}`;
}

/** Returns how far a time is from now, in its largest unit, such as `3 min ago`, `in 2 h` or `now`. */
export function formatDistance(ms: number, nowMs: number): string {
  const seconds = Math.round((ms - nowMs) / 1000);
  const [size, name] = UNITS.find(([one]) => Math.abs(seconds) >= one) ?? [1, 's'];
  const amount = Math.floor(Math.abs(seconds) / size);
  if (amount === 0) return 'now';
  return seconds < 0 ? `${amount} ${name} ago` : `in ${amount} ${name}`;
}

/** Returns a time without seconds: `10:42` if it is today, otherwise `Nov 23, 10:42`. */
export function formatShort(ms: number, nowMs: number): string {
  return formatLocal(ms, nowMs).slice(0, -3);
}

/**
 * Returns how long ago a time was, in its largest unit, such as `3 min`. A time in the future counts as `0 s`, because
 * the clock of the viewer may be behind.
 */
export function formatAge(ms: number, nowMs: number): string {
  return formatDistance(Math.min(ms, nowMs), nowMs).replace(/^now$/, '0 s').replace(/ ago$/, '');
}

/** Returns how long it is until a time, such as `3 min left`. */
export function formatLeft(ms: number, nowMs: number): string {
  return `${formatDistance(ms, nowMs).replace('in ', '')} left`;
}

/** Returns a time and how long ago it was: `21:36 (3 h)` within the last 24 hours, otherwise `Nov 23 (2 d)`. */
export function formatSince(ms: number, nowMs: number): string {
  const isRecent = nowMs - ms < 86_400_000;
  return `${isRecent ? formatShort(ms, ms) : formatDay(ms)} (${formatAge(ms, nowMs)})`;
}

/**
 * Returns whether the next round is overdue: the last round was more than three periods and 30 s ago. The 30 s allow
 * for the age of the answer.
 */
export function isOverdue(lastAt: string, periodSeconds: number, nowMs: number): boolean {
  return nowMs - Date.parse(lastAt) > 1000 * (3 * periodSeconds + 30);
}
