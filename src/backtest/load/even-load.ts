import { addSeconds, earliest, instantFromMs } from '../../units/time.js';
import { createLoad, type Load } from './load.js';

/**
 * Returns the mean load of each period of `stepSeconds`, unless the steps already have at least that length. A burst of
 * one second is not lost load, because a request may wait for some seconds.
 */
export function evenLoad(load: Load, stepSeconds: number): Load {
  const { start, end, points } = load;
  const stepMs = stepSeconds * 1000;
  if ((end - start) / points >= stepMs) return load;
  const count = Math.ceil((end - start) / stepMs);
  const times = Float64Array.from({ length: count }, (_, index) => start + index * stepMs);
  const values = times.map((time) => {
    const from = instantFromMs(time);
    return load.mean(from, earliest(addSeconds(from, stepSeconds), end)) ?? NaN;
  });
  return createLoad(times, values, end);
}
