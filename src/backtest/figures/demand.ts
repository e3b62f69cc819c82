import type { Load } from '../load/load.js';
import { addSeconds, earliest } from '../../units/time.js';
import type { Instant } from '../../units/time.js';

/** How many pods the load needed in each step. */
export interface Demand {
  readonly start: Instant;
  readonly end: Instant;
  readonly stepSeconds: number;
  /** Pods per step, at least 1; NaN where the load is unknown. */
  readonly pods: Float64Array;
}

/**
 * Returns the pods needed for the mean load of each step: the load divided by what one pod carries, rounded up, at
 * least 1. It uses the mean of a step because the demand of single seconds changes faster than any scaler decides.
 */
export function demandOf(
  load: Load,
  settings: {
    readonly capacity: number;
    readonly start: Instant;
    readonly end: Instant;
    readonly stepSeconds: number;
  },
): Demand {
  const { capacity, start, end, stepSeconds } = settings;
  const steps = Math.max(1, Math.ceil((end - start) / (stepSeconds * 1000)));
  const pods = new Float64Array(steps);
  for (let index = 0; index < steps; index += 1) {
    const from = addSeconds(start, index * stepSeconds);
    const mean = load.mean(from, earliest(addSeconds(from, stepSeconds), end));
    // 0.3 / 0.1 is slightly more than 3.
    pods[index] = mean === null ? NaN : Math.max(1, Math.ceil(mean / capacity - 1e-9));
  }
  return { start, end, stepSeconds, pods };
}
