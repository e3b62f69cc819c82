import { addSeconds, earliest, type Instant, instantFromMs } from '../../units/time.js';

/** The load of a workload as a step function. NaN is a gap: the load is unknown, and must not count as 0. */
export interface Load {
  /** The arguments with which `createLoad` creates the same load, for example in a worker thread. */
  readonly data: LoadData;
  readonly start: Instant;
  readonly end: Instant;
  readonly points: number;
  /** Returns the value at a time; null: the time is in a gap, or outside of the load. */
  readonly at: (time: Instant) => number | null;
  /** Returns the mean of the known values between two times; null: there are none. */
  readonly mean: (from: Instant, to: Instant) => number | null;
  /** Calls `visit` for each interval with a constant value between two times. The value of a gap is null. */
  readonly pieces: (from: Instant, to: Instant, visit: Visit) => void;
}

export interface LoadData {
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly end: Instant;
  /** Whether `at` interpolates between the middles of steps. False: it returns the value of the step. */
  readonly isInterpolated: boolean;
}

type Visit = (from: Instant, to: Instant, value: number | null) => void;

/**
 * Creates a load. `times`: milliseconds in ascending order, one for each value, at least one. The last value applies
 * until `end`. `isInterpolated`: see `LoadData`.
 */
export function createLoad(
  times: Float64Array,
  values: Float64Array,
  end: Instant,
  isInterpolated = false,
): Load {
  const { areas, known } = integrate(times, values, end);
  const timeAt = (index: number): number => (index < times.length ? (times[index] ?? end) : end);
  const valueAt = (index: number): number => values[index] ?? NaN;

  const integralTo = (time: number): { readonly area: number; readonly known: number } => {
    const index = lastAtOrBefore(times, time);
    if (index < 0) return { area: 0, known: 0 };
    const sinceMs = Math.min(time, end) - timeAt(index);
    const value = valueAt(index);
    const areaBefore = areas[index] ?? 0;
    const knownBefore = known[index] ?? 0;
    return Number.isNaN(value)
      ? { area: areaBefore, known: knownBefore }
      : { area: areaBefore + value * sinceMs, known: knownBefore + sinceMs };
  };

  const middleOf = (index: number): number => (timeAt(index) + timeAt(index + 1)) / 2;

  const at = (time: Instant): number | null => {
    const index = time > end ? -1 : lastAtOrBefore(times, time);
    const value = index < 0 ? NaN : valueAt(index);
    if (Number.isNaN(value)) return null;
    if (!isInterpolated) return value;
    const middle = middleOf(index);
    const near = time < middle ? index - 1 : index + 1;
    const nearValue = valueAt(near);
    if (Number.isNaN(nearValue)) return value;
    return value + (nearValue - value) * ((time - middle) / (middleOf(near) - middle));
  };

  return {
    data: { times, values, end, isInterpolated },
    start: instantFromMs(timeAt(0)),
    end,
    points: times.length,
    at,
    mean: (from, to) => {
      if (to <= from) return at(from);
      const upper = integralTo(to);
      const lower = integralTo(from);
      const knownMs = upper.known - lower.known;
      return knownMs <= 0 ? null : (upper.area - lower.area) / knownMs;
    },
    pieces: (from, to, visit) => {
      let index = lastAtOrBefore(times, from);
      for (let time: number = from; time < to; index += 1) {
        const next = Math.min(timeAt(index + 1), to);
        const until = index >= times.length - 1 ? to : next;
        const value = index < 0 ? NaN : valueAt(index);
        visit(instantFromMs(time), instantFromMs(until), Number.isNaN(value) ? null : value);
        time = until;
      }
    },
  };
}

export function constantLoad(value: number): Load {
  return createLoad(Float64Array.of(-LONGEST_MS), Float64Array.of(value), instantFromMs(LONGEST_MS));
}

/** The latest time that a JavaScript Date can have. */
const LONGEST_MS = 8.64e15;

/** Returns two running sums over the values before each point: the integral, and the milliseconds with known values. */
function integrate(
  times: Float64Array,
  values: Float64Array,
  end: number,
): { readonly areas: Float64Array; readonly known: Float64Array } {
  const areas = new Float64Array(times.length + 1);
  const known = new Float64Array(times.length + 1);
  for (let index = 0; index < times.length; index += 1) {
    const value = values[index] ?? NaN;
    const lengthMs = (times[index + 1] ?? end) - (times[index] ?? end);
    const isKnown = !Number.isNaN(value);
    areas[index + 1] = (areas[index] ?? 0) + (isKnown ? value * lengthMs : 0);
    known[index + 1] = (known[index] ?? 0) + (isKnown ? lengthMs : 0);
  }
  return { areas, known };
}

/** Returns the index of the last element that is not greater than `time`; -1: there is none. */
export function lastAtOrBefore(times: Float64Array, time: number, length = times.length): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] ?? Infinity) <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/**
 * Returns a load whose values are means over `stepSeconds`. A load with steps of at least this length is returned
 * unchanged. A burst of one second is averaged, because requests can wait for some seconds.
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

/** A Monday, so that schedules for days of the week begin with a whole week. */
export const DEFAULT_START = instantFromMs(Date.UTC(2026, 0, 5));

/** Seconds from the creation of a pod until it is ready. */
export const DEFAULT_POD_START_SECONDS = 30;
