import { KubernetesError } from '../types.js';

/** What API priority and fairness names in nearly all of its answers; a `Retry-After` of 0 names no time. */
const DEFAULT_MS = 1000;

/**
 * Milliseconds until a request may be sent again that was answered with 429, which means that it was not carried out:
 * its `Retry-After`, or 1 s. From the second answer in a row (`row`) on at least 2 s, 4 s, ...: a server that goes on
 * refusing has less room than it says. Null for every other failure. No jitter: the server knows when it will have
 * room, and the budget of the lane spreads what is due at once.
 */
export function rateLimitMs(error: unknown, row = 1): number | null {
  if (!(error instanceof KubernetesError) || error.kind !== 'rate_limited') return null;
  return Math.max(DEFAULT_MS * 2 ** (row - 1), (error.retryAfterSeconds ?? 0) * 1000);
}
