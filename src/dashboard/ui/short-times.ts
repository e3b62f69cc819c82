import { formatDistance, formatLocal } from './times.js';

/** Returns a time without seconds: `10:42` if it is today, otherwise `Nov 23, 10:42`. */
export function formatShort(ms: number, nowMs: number): string {
  return formatLocal(ms, nowMs).slice(0, -3);
}

/**
 * Returns how long ago a time was, in its largest unit, such as `3 min`. A time in the future counts as now, because
 * the clock of the viewer may be behind.
 */
export function formatAge(ms: number, nowMs: number): string {
  return formatDistance(Math.min(ms, nowMs), nowMs).replace(/^now$/, '0 s').replace(/ ago$/, '');
}

/** Returns how long it is until a time, such as `3 min left`. */
export function formatLeft(ms: number, nowMs: number): string {
  return `${formatDistance(ms, nowMs).replace('in ', '')} left`;
}

/** Returns a time and how long ago it was: `10:42 (3 min)` if it is today, otherwise `Nov 23 (2 d)`. */
export function formatSince(ms: number, nowMs: number): string {
  return `${formatShort(ms, nowMs).split(',', 1)[0] ?? ''} (${formatAge(ms, nowMs)})`;
}

/** Returns whether the next round is overdue. 30 s are added, because an answer may be a refresh interval old. */
export function isOverdue(lastAt: string, periodSeconds: number, nowMs: number): boolean {
  return nowMs - Date.parse(lastAt) > 1000 * (3 * periodSeconds + 30);
}
