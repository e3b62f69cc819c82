import type { Clock } from '../units/clock.js';
import { instantFromMs } from '../units/time.js';

/** No other file reads the time, sets timers or creates random numbers. */
export const SYSTEM_CLOCK: Clock = {
  now: () => instantFromMs(Date.now()),
  monotonicMs: () => performance.now(),
  random: Math.random,
  after: (ms, callback) => {
    const timer = setTimeout(callback, Math.max(0, ms));
    return () => clearTimeout(timer);
  },
};
