const DURATION = /^(?:(\d{1,4})w)?(?:(\d{1,5})d)?(?:(\d{1,6})h)?(?:(\d{1,7})m)?(?:(\d{1,9})s)?$/;
const UNIT_SECONDS = [604_800, 86_400, 3600, 60, 1];

/** What a text must be that `parseDuration` rejects, for a message. */
export const DURATION_FORM = 'a duration such as 30s, 5m, 1h30m or 7d';

/**
 * Parses a duration as Prometheus writes it: whole weeks, days, hours, minutes and seconds, in this order. Returns
 * whole seconds; null if the text is none. Only `0` needs no unit.
 */
export function parseDuration(text: string): number | null {
  if (text === '0') return 0;
  const match = text === '' ? null : DURATION.exec(text);
  if (match === null) return null;
  return UNIT_SECONDS.reduce((sum, seconds, index) => sum + seconds * Number(match[index + 1] ?? 0), 0);
}
