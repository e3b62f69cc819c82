import type { Clock } from '../../units/clock.js';

export interface LoopLag {
  /** Milliseconds by which the last tick was late or the next one is overdue, whichever is greater. */
  readonly ms: () => number;
  readonly stop: () => void;
}

/** Each tick takes 0.1 ms of CPU. Of the time that the process is stopped, up to one tick is not seen. */
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
