import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { sleep } from '../../src/units/clock.js';

/** Waits; rejects at once when `signal` is aborted, so that everything that was started is ended by its `finally`. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(SYSTEM_CLOCK, ms, signal);
  signal.throwIfAborted();
}
