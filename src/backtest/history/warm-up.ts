import { addSeconds, type Instant, instantFromMs, secondsBetween } from '../../units/time.js';
import type { Load } from '../load/load.js';

/** Returns how much of the warm-up before `start` has values, in seconds. `observed`: see `observedOfColumn`. */
export function knownWarmUpSeconds(
  observed: Load,
  {
    start,
    stepSeconds,
    warmUpSeconds,
  }: { readonly start: Instant; readonly stepSeconds: number; readonly warmUpSeconds: number },
): number {
  const { times, values } = observed.data;
  const time = times[values.findIndex((value) => !Number.isNaN(value))];
  if (time === undefined) return 0;
  // A value stands for half a step before and after it.
  const known = addSeconds(instantFromMs(time), stepSeconds / 2);
  if (known >= start) return 0;
  const begin = addSeconds(start, -warmUpSeconds);
  // Values are at multiples of the step.
  return known < addSeconds(begin, stepSeconds) ? warmUpSeconds : secondsBetween(known, start);
}
