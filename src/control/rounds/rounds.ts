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

/**
 * Calls `onRound` immediately and then at each multiple of the period since the start, until `signal` is aborted. Does
 * not wait for a round to finish; the caller skips cycles that are still running. Slots follow the monotonic clock, so
 * setting the wall clock neither skips nor repeats one.
 */
export async function runRounds(
  clock: Clock,
  periodSeconds: number,
  options: { readonly signal: AbortSignal; readonly onRound: (round: Round) => void },
): Promise<void> {
  const periodMs = periodSeconds * 1000;
  const startMs = clock.monotonicMs();
  let lastSlot = -1;
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
