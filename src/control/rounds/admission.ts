import type { Clock } from '../../units/clock.js';

/** Does the work on an item now, as for the first items of a burst, or in a later turn of the event loop. */
export type Admission<T> = (item: T) => void;

/** A burst ends after this time without an item. */
const BURST_MS = 20;

/**
 * Works on at most `atOnce` items per turn of the event loop, in order. One response may end the wait of 1,500 scalers:
 * without turns between their decisions, probes and the renewal of the Lease would wait 0.3 s. `work` must not throw.
 */
export function createAdmission<T>(
  clock: Clock,
  { atOnce, work }: { readonly atOnce: number; readonly work: (item: T) => void },
): Admission<T> {
  /** In parts of `atOnce`, and the last of at most as many: to take items off a long list would move the others. */
  const waiting: T[][] = [];
  let admitted = 0;
  let lastMs = -Infinity;

  const admitNext = (): void => {
    lastMs = clock.monotonicMs();
    const next = waiting.shift() ?? [];
    admitted = next.length;
    if (waiting.length > 0) clock.after(0, admitNext);
    for (const item of next) work(item);
  };

  return (item) => {
    const nowMs = clock.monotonicMs();
    if (nowMs - lastMs >= BURST_MS && waiting.length === 0) admitted = 0;
    lastMs = nowMs;
    if (waiting.length === 0 && admitted < atOnce) {
      admitted += 1;
      work(item);
      return;
    }
    if (waiting.length === 0) clock.after(0, admitNext);
    const last = waiting.at(-1);
    if (last === undefined || last.length === atOnce) waiting.push([item]);
    else last.push(item);
  };
}
