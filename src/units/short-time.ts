/**
 * Returns a time in the time zone of the process or browser: `10:42:30` if it is today, otherwise `Nov 23, 10:42:30`,
 * and `Nov 23, 2025, 10:42:30` if that is more than 180 days away.
 */
export function formatLocal(ms: number, nowMs: number): string {
  const at = new Date(ms);
  if (at.toDateString() === new Date(nowMs).toDateString()) return formatClock(ms);
  return Math.abs(ms - nowMs) > LONG_MS
    ? `${formatDay(ms)}, ${at.getFullYear()}, ${formatClock(ms)}`
    : formatDated(ms);
}

/** Within this distance, a date without a year is unambiguous. */
const LONG_MS = 180 * 86_400_000;

/** Returns for example `Nov 23, 10:42:30`. */
export function formatDated(ms: number): string {
  return `${formatDay(ms)}, ${formatClock(ms)}`;
}

/** Returns for example `10:42:30`. */
export function formatClock(ms: number): string {
  return TIME.format(ms);
}

/** Returns for example `Nov 23`. */
export function formatDay(ms: number): string {
  return DAY.format(ms);
}

/** Returns a time in the time zone of the browser and in UTC: `Jan 1, 11:42:30 GMT+1, 2026-01-01 10:42:30 UTC`. */
export function formatExact(ms: number): string {
  const utc = new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
  return `${formatDated(ms)} ${zoneOf(ms)}, ${utc} UTC`;
}

/** Returns the time zone of the browser at a time, such as `GMT+1` or `EST`. */
export function zoneOf(ms: number): string {
  return ZONE.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value ?? '';
}

/**
 * Returns the labels of a time axis for Unix seconds, in the time zone of the browser: a date at midnight, otherwise
 * the time.
 */
export function axisTimes(seconds: readonly number[], stepSeconds: number): string[] {
  return seconds.map((second) => {
    const ms = second * 1000;
    const clock = formatClock(ms);
    if (stepSeconds < 60) return clock;
    return clock.startsWith('00:00') || stepSeconds >= 86_400 ? formatDay(ms) : clock.slice(0, -3);
  });
}

/** If `hourCycle` is set, midnight is 00 in every language. */
const TIME = new Intl.DateTimeFormat('en-US', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const DAY = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric' });
const ZONE = new Intl.DateTimeFormat('en-US', { timeZoneName: 'short' });
