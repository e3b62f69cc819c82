import { KubernetesError } from '../types.js';

/** What API priority and fairness names in nearly all of its answers. */
const DEFAULT_SECONDS = 1;
/** A `Retry-After` of 0 would be a loop. */
const LEAST_MS = 500;

/**
 * Milliseconds until a request may be sent again that was answered with 429, which means that it was not carried out:
 * its `Retry-After`, or 1 s. Null for every other failure. No jitter: the server knows when it will have room, and the
 * budget of the lane spreads what is due at once.
 */
export function rateLimitMs(error: unknown): number | null {
  if (!(error instanceof KubernetesError) || error.kind !== 'rate_limited') return null;
  return Math.max(LEAST_MS, (error.retryAfterSeconds ?? DEFAULT_SECONDS) * 1000);
}
