import type { Clock } from '../../units/clock.js';
import { sleep } from '../../units/clock.js';
import type { Instant } from '../../units/time.js';

export interface Round {
  /** `now` of every decision of the round. */
  readonly at: Instant;
  /** Seconds between the slot and the start of the round. */
  readonly latenessSeconds: number;
  /** Slots since the last round that were skipped. */
  readonly missed: number;
}

/** A start this long ago is now: a real clock moves between the start and the call. */
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
