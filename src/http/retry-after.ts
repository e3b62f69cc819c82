import { instantFromMs, type Instant, secondsBetween } from '../units/time.js';

/**
 * Returns the seconds in a `Retry-After` (a number or a date, RFC 9110 section 10.2.3), at least 0 and at most `most`;
 * null: missing or invalid.
 */
export function retryAfterSeconds(
  header: string | null,
  { now, most }: { readonly now: Instant; readonly most: number },
): number | null {
  const text = header?.trim() ?? '';
  if (text === '') return null;
  const seconds = /^\d+$/.test(text) ? Number(text) : secondsBetween(now, instantFromMs(Date.parse(text)));
  return Number.isNaN(seconds) ? null : Math.min(Math.max(seconds, 0), most);
}
