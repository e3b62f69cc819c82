import type { Clock } from '../../units/clock.js';

export interface BackgroundWork {
  /** Returns a function that removes `work` from the queue. */
  readonly queue: (work: () => void) => () => void;
}

export interface BackgroundWorkOptions {
  readonly clock: Clock;
  readonly connections?: () => number;
}

const SLICE_MS = 2;
/** Work takes at most a fifth of the time. A round of decisions that would take 0.5 s takes 0.63 s. */
const RESTS_PER_SLICE = 4;
/** Maximum rest, and maximum time for which new connections delay work. */
const LONGEST_WAIT_MS = 250;

/**
 * Runs queued work in order, in slices of 2 ms. After each slice it rests four times as long as the slice. Whatever
 * clients request, four fifths of the time are left for decisions and probes. (A pause of one iteration of the event
 * loop is not enough: a round needs about 50 iterations, and each would take as long as a slice.) Node.js accepts one
 * connection per iteration, so no work is done while new connections arrive: otherwise a probe after 300 of them would
 * wait for 300 slices.
 */
export function createBackgroundWork({
  clock,
  connections = () => 0,
}: BackgroundWorkOptions): BackgroundWork {
  const waiting = new Set<{ readonly work: () => void }>();
  let isRunning = false;
  let accepted = 0;
  let lastSliceMs = -Infinity;
  let restUntilMs = -Infinity;

  const run = (): void => {
    const startMs = clock.monotonicMs();
    const now = connections();
    if (now !== accepted && startMs - lastSliceMs < LONGEST_WAIT_MS) {
      accepted = now;
      clock.after(0, run);
      return;
    }
    lastSliceMs = startMs;
    let tookMs = 0;
    for (const entry of waiting) {
      waiting.delete(entry);
      entry.work();
      tookMs = clock.monotonicMs() - startMs;
      if (tookMs >= SLICE_MS) break;
    }
    const restMs = Math.min(tookMs * RESTS_PER_SLICE, LONGEST_WAIT_MS);
    restUntilMs = clock.monotonicMs() + restMs;
    isRunning = waiting.size > 0;
    if (isRunning) clock.after(restMs, run);
  };

  return {
    queue: (work) => {
      const entry = { work };
      waiting.add(entry);
      if (!isRunning) {
        isRunning = true;
        lastSliceMs = clock.monotonicMs();
        clock.after(Math.max(0, restUntilMs - lastSliceMs), run);
      }
      return () => void waiting.delete(entry);
    },
  };
}
