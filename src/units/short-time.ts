/**
 * Returns a time in the time zone of the process or browser: `10:42:30` if it is today, otherwise `Nov 23, 10:42:30`,
 * and `Nov 23, 2025, 10:42:30` if that is more than 180 days away.
 */
export function formatLocal(ms: number, nowMs: number): string {
  const at = new Date(ms);
  if (at.toDateString() === new Date(nowMs).toDateString()) return formatClock(ms);
  const year = Math.abs(ms - nowMs) > LONG_MS ? ` ${at.getFullYear()},` : '';
  return `${formatDay(ms)},${year} ${formatClock(ms)}`;
}

/** Up to this distance, a date without a year names one day only. */
const LONG_MS = 180 * 86_400_000;

/** Returns for example `10:42:30`. */
export function formatClock(ms: number): string {
  return TIME.format(ms);
}

/** Returns for example `Nov 23`. */
export function formatDay(ms: number): string {
  return DAY.format(ms);
}

/** With `hourCycle`, midnight is 00 in every language. */
const TIME = new Intl.DateTimeFormat('en-US', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const DAY = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric' });
