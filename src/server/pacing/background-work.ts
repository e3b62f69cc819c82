import type { Clock } from '../../units/clock.js';

export interface BackgroundWork {
  /** Adds work to the queue. Returns a function that removes it. */
  readonly queue: (work: () => void) => () => void;
}

export interface BackgroundWorkOptions {
  readonly clock: Clock;
  readonly connections?: () => number;
}

const SLICE_MS = 2;
/**
 * A slice of work is followed by this many times its duration without work, so that work takes at most a fifth of the
 * time. A round of decisions that would take 0.5 s then takes 0.63 s.
 */
const RESTS_PER_SLICE = 4;
/** Longest pause after a slice, and longest time for which new connections delay work. */
const LONGEST_WAIT_MS = 250;

/**
 * Runs queued work in order, in slices of 2 ms. After each slice it pauses four times as long as the slice, so that
 * four fifths of the time are left for decisions and probes, whatever clients request. A pause of one iteration of the
 * event loop would not suffice: a round needs about 50 iterations, each of which would then take as long as a slice.
 * While new connections arrive, no work runs. Node.js accepts one connection in each iteration, so a probe after 300
 * new connections would otherwise wait for 300 slices.
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
