/**
 * Returns a time in the time zone of the process or browser: `10:42:30` if it is today, otherwise `Nov 23, 10:42:30`.
 */
export function formatLocal(ms: number, nowMs: number): string {
  const at = new Date(ms);
  const isToday = at.toDateString() === new Date(nowMs).toDateString();
  return isToday ? formatClock(ms) : `${formatDay(ms)}, ${formatClock(ms)}`;
}

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
