import { sleep, type Clock } from '../../units/clock.js';

/** A budget of requests: some at once, then so many a second. */
export interface TokenBucket {
  /** Resolves when a request may be sent, in the order of the calls; at once when `signal` is aborted. */
  readonly take: (signal: AbortSignal) => Promise<void>;
}

/** Full at the start. `perSecond` and `burst` above 0. */
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
      // A debt is a place in the queue: who comes later owes more and waits longer.
      tokens -= 1;
      if (tokens < 0) await sleep(clock, (-tokens / budget.perSecond) * 1000, signal);
    },
  };
}
