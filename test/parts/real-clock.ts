import type { Clock } from '../../src/units/clock.js';
import { instantFromMs } from '../../src/units/time.js';

/** The real time: what starts programs has to wait for them. */
export const REAL_CLOCK: Clock = {
  now: () => instantFromMs(Date.now()),
  monotonicMs: () => performance.now(),
  random: () => Math.random(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};
