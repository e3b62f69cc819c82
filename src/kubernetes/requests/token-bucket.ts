import { sleep, type Clock } from '../../units/clock.js';

/** Allows a burst of requests, then `perSecond`. */
export interface TokenBucket {
  /** Resolves when a request may be sent, in the order of the calls, or when `signal` is aborted. */
  readonly take: (signal: AbortSignal) => Promise<void>;
}

/** Returns a full bucket. `perSecond` and `burst` must be above 0. */
export function createTokenBucket(
  clock: Clock,
  budget: { readonly perSecond: number; readonly burst: number },
): TokenBucket {
  let tokens = budget.burst;
  let filledAtMs = clock.monotonicMs();

  return {
    take: async (signal) => {
      const now = clock.monotonicMs();
      tokens = Math.min(budget.burst, tokens + ((now - filledAtMs) / 1000) * budget.perSecond);
      filledAtMs = now;
      // A negative balance is a place in the queue: a later caller gets a lower balance and waits longer.
      tokens -= 1;
      if (tokens < 0) await sleep(clock, (-tokens / budget.perSecond) * 1000, signal);
    },
  };
}
