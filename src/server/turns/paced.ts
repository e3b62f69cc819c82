import { sleep } from '../../units/clock.js';
import type { Clock } from '../../units/clock.js';

/** Work takes at most a third of the time while requests wait, which leaves the rest for decisions and probes. */
const RESTS_PER_WORK = 2;
const LONGEST_REST_MS = 1000;

/** Runs one piece of work at a time, in the order of the calls; null: more than `mostWaiting` are waiting. */
export type Paced = <T>(work: () => Promise<T>) => Promise<T> | null;

/** After each piece of work, the next one waits twice as long as that took. */
export function createPaced(clock: Clock, mostWaiting: number): Paced {
  let last: Promise<void> = Promise.resolve();
  let waiting = 0;
  let restUntilMs = -Infinity;

  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    const restMs = restUntilMs - clock.monotonicMs();
    if (restMs > 0) await sleep(clock, restMs);
    waiting -= 1;
    const startMs = clock.monotonicMs();
    try {
      return await work();
    } finally {
      const nowMs = clock.monotonicMs();
      restUntilMs = nowMs + Math.min(LONGEST_REST_MS, RESTS_PER_WORK * (nowMs - startMs));
    }
  };

  return (work) => {
    if (waiting >= mostWaiting) return null;
    waiting += 1;
    const running = last.then(() => run(work));
    last = running.then(
      () => undefined,
      () => undefined,
    );
    return running;
  };
}
