import { addSeconds, type Instant, instantFromMs } from '../../units/time.js';
import { type CountStep, visitCounts } from '../simulation/count-steps.js';
import type { MetricHistory } from './history-models.js';

/** A single value may owe its height to the times of scrapes. */
const STEPS = 3;

/**
 * Returns the highest load of a ready pod that lasted for three steps, and when; null without such a time. A value is a
 * mean over the window of its query: it is divided by the most pods that were ready since the window before began, so
 * that pods that were just removed do not raise it.
 */
export function estimateCapacity(
  { observed, windowSeconds }: MetricHistory,
  ready: readonly CountStep[],
): { readonly capacity: number; readonly at: Instant } | null {
  const { times, values } = observed.data;
  const perPod = Array.from(values, (value, index) => {
    const at = instantFromMs(times[index] ?? 0);
    let most = 0;
    visitCounts(ready, { from: addSeconds(at, -2 * windowSeconds - 60), to: addSeconds(at, 60) }, (count) => {
      most = Math.max(most, count);
    });
    return most === 0 || !(value > 0) ? 0 : value / most;
  });
  let best: { readonly capacity: number; readonly at: Instant } | null = null;
  for (let end = STEPS; end <= perPod.length; end += 1) {
    const capacity = Math.min(...perPod.slice(end - STEPS, end));
    if (capacity > (best?.capacity ?? 0)) best = { capacity, at: instantFromMs(times[end - STEPS] ?? 0) };
  }
  return best;
}
