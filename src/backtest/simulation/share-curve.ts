import type { Instant } from '../../units/time.js';
import { lastAtOrBefore } from '../load/load.js';

/** The load that one ready pod has carried, recorded during the simulation. */
export interface ShareCurve {
  /** `value` applies from the end of the last interval until `to`; null: unknown. */
  readonly add: (to: Instant, value: number | null) => void;
  /** Returns the mean of the known values between two recorded times; null if there are none. */
  readonly mean: (from: Instant, to: Instant) => number | null;
}

const FIRST_SIZE = 1024;

export function createShareCurve(start: Instant): ShareCurve {
  let times = new Float64Array(FIRST_SIZE);
  let areas = new Float64Array(FIRST_SIZE);
  let known = new Float64Array(FIRST_SIZE);
  let length = 1;
  times[0] = start;

  const grow = (): void => {
    times = copyOf(times, length * 2);
    areas = copyOf(areas, length * 2);
    known = copyOf(known, length * 2);
  };

  const interpolated = (column: Float64Array, time: number): number => {
    const index = Math.max(0, lastAtOrBefore(times, time, length));
    const value = column[index] ?? 0;
    if (index + 1 >= length) return value;
    const from = times[index] ?? 0;
    const share = (Math.max(time, from) - from) / ((times[index + 1] ?? 0) - from);
    return value + ((column[index + 1] ?? 0) - value) * share;
  };

  return {
    add: (to, value) => {
      const last = length - 1;
      const lengthMs = to - (times[last] ?? 0);
      if (lengthMs <= 0) return;
      if (length === times.length) grow();
      times[length] = to;
      areas[length] = (areas[last] ?? 0) + (value ?? 0) * lengthMs;
      known[length] = (known[last] ?? 0) + (value === null ? 0 : lengthMs);
      length += 1;
    },
    mean: (from, to) => {
      const knownMs = interpolated(known, to) - interpolated(known, from);
      // Interpolation leaves a rounding error.
      return knownMs < 0.5 ? null : (interpolated(areas, to) - interpolated(areas, from)) / knownMs;
    },
  };
}

function copyOf(column: Float64Array, size: number): Float64Array<ArrayBuffer> {
  const copy = new Float64Array(size);
  copy.set(column);
  return copy;
}
