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
