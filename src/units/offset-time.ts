/**
 * Formats a time as RFC 3339 with the UTC offset of the process or browser: `2026-01-01T11:42:30+01:00`, or `Z` for
 * UTC. It has milliseconds only if they are not 0.
 */
export function formatWithOffset(ms: number): string {
  const minutes = -new Date(ms).getTimezoneOffset();
  const local = new Date(ms + minutes * 60_000).toISOString().replace('.000Z', 'Z');
  if (minutes === 0) return local;
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const zone = [hours, rest].map((part) => String(part).padStart(2, '0')).join(':');
  return `${local.slice(0, -1)}${minutes < 0 ? '-' : '+'}${zone}`;
}
