import type { Clock } from '../../units/clock.js';

export interface Backoff {
  /** Returns milliseconds in [d, 2d). d doubles with each call up to `lastMs`; `maxMs` limits d for this call only. */
  readonly next: (maxMs?: number) => number;
}

/** After this time without a failure, the delay starts again with the first one. */
const HEALTHY_MS = 120_000;

/**
 * Returns an exponential backoff with 100 % jitter that resets after two minutes without a failure. Source: client-go
 * tools/cache/reflector.go; reliability.md, K11.
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
