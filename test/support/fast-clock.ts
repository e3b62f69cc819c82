import type { Clock } from '../../src/units/clock.js';
import { instantFromMs } from '../../src/units/time.js';

/** Real time that runs so many times faster, for a whole service over real sockets. Chance is always 0. */
export function fastClock(speed: number): Clock {
  const startMs = Date.now();
  const start = performance.now();
  const elapsedMs = (): number => (performance.now() - start) * speed;
  return {
    now: () => instantFromMs(Math.round(startMs + elapsedMs())),
    monotonicMs: elapsedMs,
    random: () => 0,
    after: (ms, callback) => {
      const timer = setTimeout(callback, ms / speed);
      return () => clearTimeout(timer);
    },
  };
}
