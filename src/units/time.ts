/** Milliseconds since 1970-01-01T00:00:00Z, negative before. Created only in this file and by a `Clock`. */
export type Instant = number & { readonly __brand: 'Instant' };

const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?([Zz]|[+-]\d{2}:\d{2})$/;

/** Year 1, the zero time of Kubernetes, used if `lastTransitionTime` is missing. */
export const YEAR_ONE: Instant = instantFromMs(-62_135_596_800_000);

export function instantFromMs(ms: number): Instant {
  return ms as Instant;
}

export function instantFromSeconds(seconds: number): Instant {
  return instantFromMs(Math.round(seconds * 1000));
}

/** Accepts the years 1 to 9999 and truncates to milliseconds. Null: invalid. */
export function parseInstant(text: string): Instant | null {
  const match = RFC3339.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second, fraction = '', zone = 'Z'] = match;
  const local = `${year ?? ''}-${month ?? ''}-${day ?? ''}T${hour ?? ''}:${minute ?? ''}:${second ?? ''}`;
  const localMs = Date.parse(`${local}Z`);
  // Date.parse reads 30 February as 2 March.
  if (year === '0000' || Number.isNaN(localMs) || new Date(localMs).toISOString().slice(0, 19) !== local)
    return null;
  const offsetMs = zoneOffsetMs(zone);
  return offsetMs === null
    ? null
    : instantFromMs(localMs + Number(fraction.padEnd(3, '0').slice(0, 3)) - offsetMs);
}

function zoneOffsetMs(zone: string): number | null {
  if (zone === 'Z' || zone === 'z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(4, 6));
  if (hours > 23 || minutes > 59) return null;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

/**
 * Returns RFC 3339 in UTC, with milliseconds only if there are any: `2026-01-01T00:00:00Z`, `2026-01-01T00:00:00.250Z`.
 */
export function formatInstant(instant: Instant): string {
  return new Date(instant).toISOString().replace('.000Z', 'Z');
}

export function addSeconds(instant: Instant, seconds: number): Instant {
  return instantFromMs(instant + seconds * 1000);
}

/** Returns seconds with fractions, negative if `to` is earlier. */
export function secondsBetween(from: Instant, to: Instant): number {
  return (to - from) / 1000;
}

export function earliest(a: Instant, b: Instant): Instant {
  return a < b ? a : b;
}

export function latest(a: Instant, b: Instant): Instant {
  return a > b ? a : b;
}

/** Returns the later of two times, or the only one; null: there is none. */
export function laterOf(a: Instant | null, b: Instant | null): Instant | null {
  if (a === null || b === null) return a ?? b;
  return latest(a, b);
}
