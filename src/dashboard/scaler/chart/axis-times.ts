const CLOCK = new Intl.DateTimeFormat('en-US', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const SECONDS = new Intl.DateTimeFormat('en-US', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const DAY = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric' });

/** Returns labels for Unix times on an axis, in the time zone of the viewer: a date at midnight, otherwise the time. */
export function axisTimes(seconds: readonly number[], stepSeconds: number): string[] {
  return seconds.map((second) => {
    const at = new Date(second * 1000);
    if (stepSeconds < 60) return SECONDS.format(at);
    const isMidnight = at.getHours() === 0 && at.getMinutes() === 0;
    return isMidnight || stepSeconds >= 86_400 ? DAY.format(at) : CLOCK.format(at);
  });
}
