import type { Sample } from './samples.js';

/** A value that must not grow, and whether it does. */
export interface Verdict {
  readonly what: string;
  readonly figure: string;
  readonly promised: string;
  readonly isMet: boolean;
}

/** Growth over the second two thirds of the soak, as a fraction of the value in the middle. */
const MAX_GROWTH = 0.1;
/** Less than this is garbage collection noise, whatever part of the heap it is. */
const MAX_GROWTH_BYTES = 3e6;
/** The history has 480 points per scaler, one per period of 1 s: until then memory is expected to grow. */
const FULL_SECONDS = 500;
/** Sockets that are being opened or closed at the time of the sample. */
const MAX_MORE = 3;

/**
 * Judges the samples of a soak: memory by the slope of a least-squares line over the second two thirds (before that,
 * tables of fixed size fill up); counts by comparing the calm at the end with the calm at the start.
 */
export function judge(samples: readonly Sample[]): readonly Verdict[] {
  const seconds = samples.at(-1)?.atSeconds ?? 0;
  const late = samples.filter(({ atSeconds }) => atSeconds >= seconds / 3);
  const isFull = seconds / 3 >= FULL_SECONDS;
  const calm = samples.filter(({ fault }) => fault === CALM);
  const middle = (samples.at(-1)?.atSeconds ?? 0) / 2;
  const before = calm.filter(({ atSeconds }) => atSeconds < middle);
  const after = calm.filter(({ atSeconds }) => atSeconds >= middle);
  return [
    growth('heap in use after gc', { samples: late, isFull }, ({ heapBytes }) => heapBytes),
    growth('memory (RSS)', { samples: late, isFull }, ({ residentBytes }) => residentBytes),
    ...(['descriptors', 'sockets', 'timers', 'listeners'] as const).map((what) =>
      returns(
        what,
        before.map((sample) => sample[what]),
        after.map((sample) => sample[what]),
      ),
    ),
  ];
}

/** Not a fault: the time before the first one, and after the last one has ended. */
export const CALM = 'calm';

function growth(
  what: string,
  { samples, isFull }: { readonly samples: readonly Sample[]; readonly isFull: boolean },
  of: (sample: Sample) => number,
): Verdict {
  const points = samples.map((sample) => ({ x: sample.atSeconds, y: of(sample) }));
  const seconds = (points.at(-1)?.x ?? 0) - (points.at(0)?.x ?? 0);
  const bytes = slopeOf(points) * seconds;
  const middle = mean(points.map(({ y }) => y));
  const allowed = Math.max(MAX_GROWTH_BYTES, MAX_GROWTH * middle);
  const figure = `${(bytes / 1e6).toFixed(2)} MB in ${seconds.toFixed(0)} s`;
  const promised = `at most ${(allowed / 1e6).toFixed(1)} MB`;
  return isFull
    ? { what, figure, promised, isMet: bytes <= allowed }
    : { what, figure, promised: `${promised}; not judged: the run is too short`, isMet: true };
}

function returns(what: string, before: readonly number[], after: readonly number[]): Verdict {
  const [most, last] = [Math.max(...before), Math.min(...after)];
  return {
    what: `${what} in the calm at the end`,
    figure: String(last),
    promised: `at most ${most + MAX_MORE}, ${most} in the calm at the start`,
    isMet: before.length > 0 && after.length > 0 && last <= most + MAX_MORE,
  };
}

/** Returns the slope of the least-squares line, y for each x; 0 without a line. */
function slopeOf(points: readonly { readonly x: number; readonly y: number }[]): number {
  const [x, y] = [mean(points.map((point) => point.x)), mean(points.map((point) => point.y))];
  let [above, below] = [0, 0];
  for (const point of points) {
    above += (point.x - x) * (point.y - y);
    below += (point.x - x) ** 2;
  }
  return below === 0 ? 0 : above / below;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
