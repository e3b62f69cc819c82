import { KubernetesError } from '../api/types.js';
import type { Clock } from '../../units/clock.js';

/**
 * Shortest delay after a 429. API priority and fairness sends `Retry-After: 1` in nearly all responses. A delay of 0
 * would cause a busy loop.
 */
const DEFAULT_MS = 1000;

/**
 * Returns the milliseconds to wait after a 429, which means that the request was not processed; null: another error.
 * Returns `Retry-After`, but at least 1 s, doubled with each consecutive 429 (`row`): a server that keeps rejecting
 * needs more time than it says. Adds no jitter, because the rate limit of the lane spreads the retries.
 */
export function rateLimitMs(error: unknown, row = 1): number | null {
  if (!(error instanceof KubernetesError) || error.kind !== 'rate_limited') return null;
  return Math.max(DEFAULT_MS * 2 ** (row - 1), (error.retryAfterSeconds ?? 0) * 1000);
}

export interface Backoff {
  /**
   * Returns a random number of milliseconds from d up to 2d. With each call d doubles, up to `lastMs`. `maxMs` limits d
   * in this call only.
   */
  readonly next: (maxMs?: number) => number;
}

/** After this time without a failure, the delay starts again at its first value. */
const HEALTHY_MS = 120_000;

/**
 * Returns an exponential backoff with 100 % jitter. It starts again after two minutes without a failure. Source:
 * client-go tools/cache/reflector.go; reliability.md, K11.
 */
export function createBackoff(clock: Clock, firstMs = 800, lastMs = 30_000): Backoff {
  let delayMs = firstMs;
  let quietUntilMs = 0;
  return {
    next: (maxMs = lastMs) => {
      const now = clock.monotonicMs();
      if (now - quietUntilMs >= HEALTHY_MS) delayMs = firstMs;
      const waitMs = Math.min(delayMs, maxMs) * (1 + clock.random());
      delayMs = Math.min(delayMs * 2, lastMs);
      quietUntilMs = now + waitMs;
      return waitMs;
    },
  };
}

/**
 * Distinguishes a lasting 403 from the 403 of an API server that has just started and has not loaded its RBAC rules.
 */
export interface Refusals {
  /** Counts a 403. Returns whether it is lasting: the fourth in a row or later, and at least 15 s after the first. */
  readonly note: () => boolean;
  /** Resets the count, because the request was allowed, or failed for another reason. */
  readonly clear: () => void;
  /** Returns the milliseconds until a retry after a 403 that may not last: 3 to 6 s. */
  readonly retryMs: () => number;
}

/**
 * Shortest time after which a 403 is lasting. A kube-apiserver that starts answers 403 for about a second. Source:
 * reliability.md, section 1.
 */
const BELIEVED_MS = 15_000;
const BELIEVED_TRIES = 4;
const REFUSED_RETRY_MS = 3000;

export function createRefusals(clock: Clock): Refusals {
  let tries = 0;
  let firstMs = 0;
  return {
    note: () => {
      const nowMs = clock.monotonicMs();
      if (tries === 0) firstMs = nowMs;
      tries += 1;
      return tries >= BELIEVED_TRIES && nowMs - firstMs >= BELIEVED_MS;
    },
    clear: () => {
      tries = 0;
    },
    retryMs: () => REFUSED_RETRY_MS * (1 + clock.random()),
  };
}
