/** A load over time: the value (for example requests per second, at least 0) `seconds` after its start. */
export type Curve = (seconds: number) => number;

/** Always the same. */
export function constant(value: number): Curve {
  return () => value;
}

/** A wave from `low` to `high` and back once in `periodSeconds` (a day unless said otherwise), lowest at the start. */
export function dailyWave(options: {
  readonly low: number;
  readonly high: number;
  readonly periodSeconds?: number;
}): Curve {
  const { low, high, periodSeconds = 86_400 } = options;
  return (seconds) => low + ((high - low) * (1 - Math.cos((2 * Math.PI * seconds) / periodSeconds))) / 2;
}

/** `base`, then from `atSeconds` on a rise to `peak` within `riseSeconds`, held for `holdSeconds`, and a slow way back. */
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

/** `base`, and `peak` for the first `burstSeconds` of every `everySeconds`. */
export function bursts(options: {
  readonly base: number;
  readonly peak: number;
  readonly everySeconds: number;
  readonly burstSeconds: number;
}): Curve {
  const { base, peak, everySeconds, burstSeconds } = options;
  return (seconds) => (seconds % everySeconds < burstSeconds ? peak : base);
}

/** The curve with its time shortened by `speed` (2: everything happens in half the time). */
export function faster(curve: Curve, speed: number): Curve {
  return (seconds) => curve(seconds * speed);
}
