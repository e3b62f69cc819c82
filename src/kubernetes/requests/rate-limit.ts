import { KubernetesError } from '../types.js';

/** The value that API priority and fairness sends in nearly all responses. */
const DEFAULT_SECONDS = 1;
/** A `Retry-After` of 0 would make a busy loop. */
const MIN_MS = 500;

/**
 * Returns milliseconds until the retry of a request that was rejected with 429 (and not carried out): its
 * `Retry-After`, or 1 s. Null for every other failure. No jitter: the server chose the time, and the rate limit of the
 * lane spreads retries that are due together.
 */
export function rateLimitMs(error: unknown): number | null {
  if (!(error instanceof KubernetesError) || error.kind !== 'rate_limited') return null;
  return Math.max(MIN_MS, (error.retryAfterSeconds ?? DEFAULT_SECONDS) * 1000);
}
