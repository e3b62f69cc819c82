import type { Clock } from '../../src/units/clock.js';
import { instantFromMs } from '../../src/units/time.js';

const TICK_MS = 5;
/** Limits a longer pause between two ticks: a busy machine stopped the process. */
const MOST_PER_TICK_MS = 10;

interface Timer {
  readonly dueMs: number;
  readonly callback: () => void;
}

/**
 * Returns a clock that is `speed` times faster than real time, for a whole service with real sockets. Random numbers
 * are 0. While the process gets no processor time, the clock stops: a request that is answered in the same process does
 * not time out on a busy machine.
 */
export function fastClock(speed: number): Clock {
  const startMs = Date.now();
  let lastMs = performance.now();
  let elapsedMs = 0;
  const timers = new Set<Timer>();
  let ticks: NodeJS.Timeout | null = null;

  const read = (): number => {
    const nowMs = performance.now();
    elapsedMs += Math.min(nowMs - lastMs, MOST_PER_TICK_MS) * speed;
    lastMs = nowMs;
    return elapsedMs;
  };
  const remove = (timer: Timer): void => {
    timers.delete(timer);
    if (timers.size > 0 || ticks === null) return;
    clearInterval(ticks);
    ticks = null;
  };
  const tick = (): void => {
    const nowMs = read();
    const due = [...timers].filter(({ dueMs }) => dueMs <= nowMs).sort((a, b) => a.dueMs - b.dueMs);
    for (const timer of due) {
      // A callback may cancel the next one.
      if (!timers.has(timer)) continue;
      remove(timer);
      timer.callback();
    }
  };
  return {
    now: () => instantFromMs(Math.round(startMs + read())),
    monotonicMs: read,
    random: () => 0,
    after: (ms, callback) => {
      const timer = { dueMs: read() + ms, callback };
      timers.add(timer);
      ticks ??= setInterval(tick, TICK_MS);
      return () => remove(timer);
    },
  };
}
