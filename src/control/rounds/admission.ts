import type { Clock } from '../../units/clock.js';

/**
 * Returns null if the caller may continue, as the first callers of a burst; for the others, a promise that resolves in a
 * later turn of the event loop.
 */
export type Admission = () => Promise<void> | null;

/** A burst ends after this time without a caller. */
const BURST_MS = 20;

/**
 * Admits at most `atOnce` callers per turn of the event loop, in order. One response may end the wait of 1,500 scalers:
 * without turns between their decisions, probes and the renewal of the Lease would wait 0.3 s.
 */
export function createAdmission(clock: Clock, atOnce: number): Admission {
  let waiting: (() => void)[] = [];
  let admitted = 0;
  let lastMs = -Infinity;

  const admitNext = (): void => {
    lastMs = clock.monotonicMs();
    const next = waiting.slice(0, atOnce);
    waiting = waiting.slice(atOnce);
    admitted = next.length;
    if (waiting.length > 0) clock.after(0, admitNext);
    for (const admit of next) admit();
  };

  return () => {
    const nowMs = clock.monotonicMs();
    if (nowMs - lastMs >= BURST_MS && waiting.length === 0) admitted = 0;
    lastMs = nowMs;
    if (waiting.length === 0 && admitted < atOnce) {
      admitted += 1;
      return null;
    }
    if (waiting.length === 0) clock.after(0, admitNext);
    return new Promise((resolve) => waiting.push(resolve));
  };
}
