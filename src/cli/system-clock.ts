import type { Clock } from '../units/clock.js';
import { instantFromMs } from '../units/time.js';

/** No other file reads the time, sets timers or creates random numbers. */
export const SYSTEM_CLOCK: Clock = {
  now: () => instantFromMs(Date.now()),
  monotonicMs: () => performance.now(),
  random: Math.random,
  after: (ms, callback) => {
    if (ms <= 0) return inNextTurn(callback);
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

/**
 * Serves sockets between the callbacks. A chain of `setTimeout(callback, 0)` keeps Node.js in its timers while each
 * callback takes longer than 1 ms. No answer would be read and no probe served until the chain ends.
 */
function inNextTurn(callback: () => void): () => void {
  const immediate = setImmediate(callback);
  return () => clearImmediate(immediate);
}
