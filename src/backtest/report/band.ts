import type { Instant } from '../../units/time.js';
import type { Band } from './page-data.js';

/** Number of time intervals in a chart: about one per pixel of a wide screen. */
export const BAND_PARTS = 1000;
const DIGITS = 4;

export interface BandBuilder {
  /** `value` applies between these times. */
  readonly add: (value: number, from: Instant, to: Instant) => void;
  readonly finish: () => Band;
}

/** Collects the lowest and the highest value of each interval, regardless of the number of values. */
export function createBand(start: Instant, end: Instant, parts = BAND_PARTS): BandBuilder {
  const low = new Float64Array(parts).fill(Infinity);
  const high = new Float64Array(parts).fill(-Infinity);
  const partOf = (time: number): number =>
    Math.min(parts - 1, Math.max(0, Math.floor(((time - start) / (end - start)) * parts)));
  const written = (value: number): number | null =>
    Number.isFinite(value) ? Number(value.toPrecision(DIGITS)) : null;
  return {
    add: (value, from, to) => {
      if (!Number.isFinite(value)) return;
      // A time range that ends at the start of an interval does not include that interval.
      const last = to > from ? partOf(to - 1) : partOf(from);
      for (let part = partOf(from); part <= last; part += 1) {
        low[part] = Math.min(low[part] ?? Infinity, value);
        high[part] = Math.max(high[part] ?? -Infinity, value);
      }
    },
    finish: () => ({ low: [...low].map(written), high: [...high].map(written) }),
  };
}
