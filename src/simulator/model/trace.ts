import type { Curve } from './curves.js';

/** A recorded load: requests per second in steps of equal length. */
export interface Trace {
  readonly stepSeconds: number;
  readonly ratesPerSecond: readonly number[];
}

/**
 * Parses CSV lines `t_seconds,value`, where value is the number of requests in the step that starts at that time. Skips
 * a header line, empty lines and lines that start with `#`. Throws `Error` with the line number if a line is not a pair
 * of numbers, if the times are not equidistant, or if there are fewer than two.
 */
export function parseTrace(text: string): Trace {
  const rows: { readonly atSeconds: number; readonly value: number }[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const cells = line.split(',').map((cell) => cell.trim());
    const [atSeconds = Number.NaN, value = Number.NaN] = cells.map((cell) =>
      cell === '' ? Number.NaN : Number(cell),
    );
    if (Number.isNaN(atSeconds) && rows.length === 0) continue;
    if (!Number.isFinite(atSeconds) || !Number.isFinite(value) || value < 0) {
      throw new Error(
        `reading a load trace: line ${index + 1} is "${line.slice(0, 80)}", must be t_seconds,value with value >= 0`,
      );
    }
    rows.push({ atSeconds, value });
  }
  const [first, second] = rows;
  if (first === undefined || second === undefined)
    throw new Error('reading a load trace: fewer than two lines');
  const stepSeconds = second.atSeconds - first.atSeconds;
  const uneven = rows.findIndex(
    (row, i) => Math.abs(row.atSeconds - first.atSeconds - i * stepSeconds) > stepSeconds / 1000,
  );
  if (stepSeconds <= 0 || uneven >= 0) {
    throw new Error(
      `reading a load trace: times must rise in equal steps of ${stepSeconds} s (value ${uneven + 1})`,
    );
  }
  return { stepSeconds, ratesPerSecond: rows.map((row) => row.value / stepSeconds) };
}

/** Returns a curve that holds the rate of each step. After its end the trace repeats, or is 0 without `isRepeated`. */
export function traceCurve({ stepSeconds, ratesPerSecond }: Trace, isRepeated = true): Curve {
  return (seconds) => {
    const index = Math.floor(seconds / stepSeconds);
    return ratesPerSecond[isRepeated ? index % ratesPerSecond.length : index] ?? 0;
  };
}
