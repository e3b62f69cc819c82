import { type Clock, sleep } from '../units/clock.js';
import type { Instant } from '../units/time.js';

export interface Round {
  /** `now` of every decision of the round. */
  readonly at: Instant;
  /** Seconds between the slot and the start of the round. */
  readonly latenessSeconds: number;
  /** Skipped slots since the last round. */
  readonly missed: number;
}

/** A start up to this long ago counts as now: the clock advances between the start and the call. */
const START_MS = 1000;

/**
 * Calls `onRound` at each multiple of the period since `startMs`, which is now or earlier, until `signal` is aborted:
 * immediately if `startMs` is now, otherwise at the next multiple. Does not wait for a round to finish; the caller skips
 * cycles that are still running. Slots follow the monotonic clock, so setting the wall clock neither skips nor repeats
 * one.
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
  /** Starts a round in 50 ms, or 3 s after the last one if that is later. */
  readonly request: () => void;
  readonly cancel: () => void;
}

/** Combines successive edits. Also the maximum wait for the status after an edit. */
const MIN_INTERVAL_MS = 3000;
/** All documents of a reload arrive within one event-loop iteration. */
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

/** Counts work in flight. A set of promises would cost two more promises for each of 10,000 cycles. */
export interface InFlight {
  readonly begin: () => void;
  readonly end: () => void;
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
    untilNone: () => (count === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
}
