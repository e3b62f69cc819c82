import type { Clock } from '../units/clock.js';
import { instantFromMs } from '../units/time.js';

/** The only place that reads the time, sets timers and creates random numbers, so that tests can replace them. */
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
 * Calls the callback in the next iteration of the event loop, after sockets were served. With a chain of
 * `setTimeout(callback, 0)`, Node.js would stay in its timers while each callback takes longer than 1 ms: until the end
 * of the chain, no answer would be read and no probe served.
 */
function inNextTurn(callback: () => void): () => void {
  const immediate = setImmediate(callback);
  return () => clearImmediate(immediate);
}
