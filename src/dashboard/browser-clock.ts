import type { Clock } from '../units/clock.js';
import { instantFromMs } from '../units/time.js';

/** The clock of the page. Tests replace it, so no other file reads time, timers and random numbers. */
export const BROWSER_CLOCK: Clock = {
  now: () => instantFromMs(Date.now()),
  monotonicMs: () => performance.now(),
  random: () => Math.random(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};
