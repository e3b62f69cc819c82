import { KubernetesError } from '../api/types.js';

/** API priority and fairness sends this value in nearly all responses. A `Retry-After` of 0 would cause a busy loop. */
const DEFAULT_MS = 1000;

/**
 * Returns the milliseconds until a retry after a 429, which means that the request was not carried out: its
 * `Retry-After`, at least 1 s. After the second and later consecutive 429 (`row`), at least 2 s, 4 s, ...: a server
 * that keeps rejecting has less capacity than its `Retry-After` suggests. Null for any other failure. No jitter: the
 * server chose the time, and the rate limit of the lane spreads simultaneous retries.
 */
export function rateLimitMs(error: unknown, row = 1): number | null {
  if (!(error instanceof KubernetesError) || error.kind !== 'rate_limited') return null;
  return Math.max(DEFAULT_MS * 2 ** (row - 1), (error.retryAfterSeconds ?? 0) * 1000);
}
