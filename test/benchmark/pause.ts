import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { sleep } from '../../src/units/clock.js';

/** Waits; rejects at once when `signal` is aborted, so that `finally` blocks stop everything that was started. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(SYSTEM_CLOCK, ms, signal);
  signal.throwIfAborted();
}
