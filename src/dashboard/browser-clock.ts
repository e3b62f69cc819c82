import type { Clock } from '../units/clock.js';
import { instantFromMs } from '../units/time.js';

/** The clock of the page. No other file of the dashboard reads time, timers and randomness from the browser. */
export const BROWSER_CLOCK: Clock = {
  now: () => instantFromMs(Date.now()),
  monotonicMs: () => performance.now(),
  random: () => Math.random(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};
