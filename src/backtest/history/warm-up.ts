import { addSeconds, type Instant, instantFromMs, secondsBetween } from '../../units/time.js';
import type { Load } from '../load/load.js';

/** Returns how many seconds of the warm-up before `start` have values. `observed`: see `observedOfColumn`. */
export function knownWarmUpSeconds(
  observed: Load,
  {
    start,
    stepSeconds,
    warmUpSeconds,
  }: { readonly start: Instant; readonly stepSeconds: number; readonly warmUpSeconds: number },
): number {
  const known = knownSince(observed, stepSeconds);
  if (known === null || known >= start) return 0;
  const begin = addSeconds(start, -warmUpSeconds);
  // Values are at multiples of the step.
  return known < addSeconds(begin, stepSeconds) ? warmUpSeconds : secondsBetween(known, start);
}

/** Returns the time of the first value, or null. */
export function knownSince(observed: Load, stepSeconds: number): Instant | null {
  const { times, values } = observed.data;
  const time = times[values.findIndex((value) => !Number.isNaN(value))];
  // A value applies from half a step before its time to half a step after it.
  return time === undefined ? null : addSeconds(instantFromMs(time), stepSeconds / 2);
}
