import { sleep, type Clock } from '../../units/clock.js';
import type { ElectionTimes } from './election-rules.js';

export interface LoopLag {
  /** Returns by how many milliseconds the last tick was late, or the next tick is overdue, whichever is more. */
  readonly ms: () => number;
  readonly stop: () => void;
}

/**
 * Interval of the measurement. A tick takes 0.1 ms of CPU time. If the process is suspended, up to one interval of the
 * suspension is not measured.
 */
const TICK_MS = 500;

export function watchLoopLag(clock: Clock): LoopLag {
  let lastMs = 0;
  let dueMs = 0;
  let cancel = (): void => undefined;
  const arm = (): void => {
    dueMs = clock.monotonicMs() + TICK_MS;
    cancel = clock.after(TICK_MS, () => {
      lastMs = clock.monotonicMs() - dueMs;
      arm();
    });
  };
  arm();
  return {
    ms: () => Math.max(lastMs, clock.monotonicMs() - dueMs, 0),
    stop: () => cancel(),
  };
}

/**
 * Above this lag, the process must not write: the event loop may be blocked again between the check and the request.
 * Followers take over leaseDuration - renewDeadline after the last moment at which this process may write. Source:
 * reliability.md, W18.
 */
const MAX_LAG_MS = 1000;
const STEADY_WAIT_MS = 3000;
const STEADY_POLL_MS = 250;

/** Returns why the holder of a Lease must not write; null: it may write. Source: reliability.md, W17 and W18. */
export function whyUnsafe(holder: {
  /** Whether the last renewal is less than renewDeadline ago. */
  readonly isValid: boolean;
  readonly lagMs: number;
  readonly times: ElectionTimes;
}): string | null {
  const { isValid, lagMs, times } = holder;
  if (!isValid) {
    return `the Lease was not renewed within ${times.renewDeadlineSeconds} s, so another replica may take it over`;
  }
  if (lagMs <= MAX_LAG_MS) return null;
  return `the event loop was blocked for ${(lagMs / 1000).toFixed(1)} s, but at most ${MAX_LAG_MS / 1000} s are allowed`;
}

/** Resolves when the event loop is responsive, or after 3 s. */
export async function untilSteady(clock: Clock, lagMs: () => number): Promise<void> {
  const endMs = clock.monotonicMs() + STEADY_WAIT_MS;
  while (lagMs() > MAX_LAG_MS && clock.monotonicMs() < endMs) await sleep(clock, STEADY_POLL_MS);
}
