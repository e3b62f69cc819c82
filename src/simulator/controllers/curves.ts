/** A load of at least 0, such as requests per second, by seconds since its start. */
export type Curve = (seconds: number) => number;

export function constant(value: number): Curve {
  return () => value;
}

/** Returns a sine wave between `low` and `high` with the period `periodSeconds` (default: a day), lowest at 0. */
export function dailyWave(options: {
  readonly low: number;
  readonly high: number;
  readonly periodSeconds?: number;
}): Curve {
  const { low, high, periodSeconds = 86_400 } = options;
  return (seconds) => low + ((high - low) * (1 - Math.cos((2 * Math.PI * seconds) / periodSeconds))) / 2;
}

/**
 * Returns `base`, then from `atSeconds` a linear rise to `peak` in `riseSeconds`, held for `holdSeconds`, then a fall.
 */
export function flashCrowd(options: {
  readonly base: number;
  readonly peak: number;
  readonly atSeconds: number;
  readonly riseSeconds: number;
  readonly holdSeconds: number;
  readonly fallSeconds: number;
}): Curve {
  const { base, peak, atSeconds, riseSeconds, holdSeconds, fallSeconds } = options;
  const height = peak - base;
  return (seconds) => {
    const since = seconds - atSeconds;
    if (since < 0) return base;
    if (since < riseSeconds) return base + (height * since) / riseSeconds;
    if (since < riseSeconds + holdSeconds) return peak;
    const left = 1 - (since - riseSeconds - holdSeconds) / fallSeconds;
    return base + height * Math.max(0, left);
  };
}

/** Returns `peak` in the first `burstSeconds` of every `everySeconds`, otherwise `base`. */
export function bursts(options: {
  readonly base: number;
  readonly peak: number;
  readonly everySeconds: number;
  readonly burstSeconds: number;
}): Curve {
  const { base, peak, everySeconds, burstSeconds } = options;
  return (seconds) => (seconds % everySeconds < burstSeconds ? peak : base);
}

export function faster(curve: Curve, speed: number): Curve {
  return (seconds) => curve(seconds * speed);
}

/** A recorded load: requests per second in steps of equal length. */
interface Trace {
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

/** Returns a curve that holds the rate of each step. After its end the trace repeats. */
export function traceCurve({ stepSeconds, ratesPerSecond }: Trace): Curve {
  return (seconds) => ratesPerSecond[Math.floor(seconds / stepSeconds) % ratesPerSecond.length] ?? 0;
}
