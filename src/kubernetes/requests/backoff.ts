import type { Clock } from '../../units/clock.js';

/** How long to wait after one failure after the other. */
export interface Backoff {
  /**
   * Milliseconds until the next attempt: in [d, 2d), where d doubles with each call up to its end; this time at most
   * `mostMs`, if given.
   */
  readonly next: (mostMs?: number) => number;
}

/** After that long without a failure the next one is a first one again. */
const HEALTHY_MS = 120_000;

/**
 * A doubling wait with full extra jitter, 0.8 s to 30 s unless said otherwise; forgets after two healthy minutes.
 * Source: client-go tools/cache/reflector.go; reliability.md, K11.
 */
export function createBackoff(clock: Clock, firstMs = 800, lastMs = 30_000): Backoff {
  let delayMs = firstMs;
  let quietUntilMs = 0;
  return {
    next: (mostMs = lastMs) => {
      const now = clock.monotonicMs();
      if (now - quietUntilMs >= HEALTHY_MS) delayMs = firstMs;
      const waitMs = Math.min(delayMs, mostMs) * (1 + clock.random());
      delayMs = Math.min(delayMs * 2, lastMs);
      quietUntilMs = now + waitMs;
      return waitMs;
    },
  };
}
