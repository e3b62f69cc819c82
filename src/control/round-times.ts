import { type Clock, sleep } from '../units/clock.js';
import type { Instant } from '../units/time.js';

export interface Round {
  /** The start of the round; all its decisions have this time as `now`. */
  readonly at: Instant;
  /** Seconds by which the round started late. */
  readonly latenessSeconds: number;
  /** Number of rounds that were skipped since the last one. */
  readonly missed: number;
}

/**
 * A start that is at most this long ago is treated as now, because the clock advances between the choice of `startMs`
 * and the call.
 */
const START_MS = 1000;

/**
 * Calls `onRound` at each multiple of the period since `startMs`, until `signal` is aborted. The first call is
 * immediate if `startMs` is now, otherwise at the next multiple. Does not wait until a round has finished; the caller
 * skips cycles that are still running. Uses the monotonic clock, so that setting the wall clock neither skips nor
 * repeats a round.
 */
export async function runRounds(
  clock: Clock,
  periodSeconds: number,
  options: {
    readonly startMs: number;
    readonly signal: AbortSignal;
    readonly onRound: (round: Round) => void;
  },
): Promise<void> {
  const { startMs } = options;
  const periodMs = periodSeconds * 1000;
  const beforeMs = clock.monotonicMs() - startMs;
  let lastSlot = beforeMs > START_MS ? Math.floor(beforeMs / periodMs) : -1;
  while (!options.signal.aborted) {
    const elapsedMs = clock.monotonicMs() - startMs;
    const slot = Math.floor(elapsedMs / periodMs);
    if (slot > lastSlot) {
      const latenessSeconds = (elapsedMs - slot * periodMs) / 1000;
      options.onRound({ at: clock.now(), latenessSeconds, missed: slot - lastSlot - 1 });
      lastSlot = slot;
    }
    await sleep(clock, startMs + (lastSlot + 1) * periodMs - clock.monotonicMs(), options.signal);
  }
}

interface EarlyRound {
  /** Starts a round in 50 ms, or 3 s after the last early round if that is later. */
  readonly request: () => void;
  readonly cancel: () => void;
}

/**
 * Minimum interval between early rounds, so that successive edits are decided together. It is also the longest time
 * that an edit waits for its status.
 */
const MIN_INTERVAL_MS = 3000;
/**
 * Delay before an early round. It can be short, because the documents of a reload all arrive within one event-loop
 * iteration.
 */
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

/**
 * Counts work in flight. For speed, it keeps no set of promises: that would create two more promises in each of 10,000
 * cycles.
 */
export interface InFlight {
  readonly begin: () => void;
  readonly end: () => void;
  readonly isNone: () => boolean;
  /** Resolves as soon as no work is in flight. */
  readonly untilNone: () => Promise<void>;
}

export function createInFlight(): InFlight {
  let count = 0;
  let waiting: (() => void)[] = [];
  return {
    begin: () => {
      count += 1;
    },
    end: () => {
      count -= 1;
      if (count > 0) return;
      for (const resolve of waiting) resolve();
      waiting = [];
    },
    isNone: () => count === 0,
    untilNone: () => (count === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
}
