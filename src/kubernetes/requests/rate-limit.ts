import { KubernetesError } from '../types.js';

/** API priority and fairness sends this value in nearly all responses; a `Retry-After` of 0 would make a busy loop. */
const DEFAULT_MS = 1000;

/**
 * Returns milliseconds until the retry of a request that was rejected with 429 (and not carried out): its `Retry-After`,
 * at least 1 s. From the second 429 in a row (`row`) on at least 2 s, 4 s, ...: a server that keeps rejecting has less
 * capacity than it says. Null for every other failure. No jitter: the server chose the time, and the rate limit of the
 * lane spreads retries that are due together.
 */
export function rateLimitMs(error: unknown, row = 1): number | null {
  if (!(error instanceof KubernetesError) || error.kind !== 'rate_limited') return null;
  return Math.max(DEFAULT_MS * 2 ** (row - 1), (error.retryAfterSeconds ?? 0) * 1000);
}
