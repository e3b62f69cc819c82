import type { Clock } from '../../units/clock.js';

/** A round out of turn, for scalers whose document is new or was edited. */
export interface EarlyRound {
  /** Asks for a round: at once, but at most one in 3 s. */
  readonly request: () => void;
  /** Takes the request back. */
  readonly cancel: () => void;
}

/** Edits that come in a row are decided by together; whoever waits for the status of one waits no longer than that. */
const REST_MS = 3000;
/** The documents of one reading are taken up in one turn of the event loop. */
const SETTLE_MS = 50;

/** Calls `run` for requests; no timer is left after `cancel`. */
export function createEarlyRound(clock: Clock, run: () => void): EarlyRound {
  let lastMs = Number.NEGATIVE_INFINITY;
  let cancelTimer: (() => void) | null = null;
  return {
    request: () => {
      if (cancelTimer !== null) return;
      const waitMs = Math.max(SETTLE_MS, lastMs + REST_MS - clock.monotonicMs());
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
