import type { Clock } from '../../units/clock.js';

/** An extra round for scalers with a new or changed document. */
export interface EarlyRound {
  /** Requests a round: at once, but at most one per 3 s. */
  readonly request: () => void;
  /** Cancels the request. */
  readonly cancel: () => void;
}

/** Combines consecutive edits; also the longest wait for the status after an edit. */
const MIN_INTERVAL_MS = 3000;
/** All documents of one reload arrive within one turn of the event loop. */
const DEBOUNCE_MS = 50;

/** Calls `run` for requests; after `cancel` no timer is left. */
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
