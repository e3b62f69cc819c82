import type { Clock } from '../../units/clock.js';

interface EarlyRound {
  /** Starts a round in 50 ms, or 3 s after the last one if that is later. */
  readonly request: () => void;
  readonly cancel: () => void;
}

/** Combines successive edits. Also the maximum wait for the status after an edit. */
const MIN_INTERVAL_MS = 3000;
/** All documents of one reload arrive in the same turn of the event loop. */
const DEBOUNCE_MS = 50;

export function createEarlyRound(clock: Clock, run: () => void): EarlyRound {
  let lastMs = Number.NEGATIVE_INFINITY;
  let cancelTimer: (() => void) | null = null;
  return {
    request: () => {
      if (cancelTimer !== null) return;
      const waitMs = Math.max(DEBOUNCE_MS, lastMs + MIN_INTERVAL_MS - clock.monotonicMs());
      cancelTimer = clock.after(waitMs, () => {
        cancelTimer = null;
        lastMs = clock.monotonicMs();
        run();
      });
    },
    cancel: () => {
      cancelTimer?.();
      cancelTimer = null;
    },
  };
}
