import type { Clock } from '../units/clock.js';
import { instantFromMs } from '../units/time.js';

/**
 * The clock of the page. No other file uses the time, timers or random numbers of the browser, so that tests can
 * replace them.
 */
export const BROWSER_CLOCK: Clock = {
  now: () => instantFromMs(Date.now()),
  monotonicMs: () => performance.now(),
  random: () => Math.random(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};
