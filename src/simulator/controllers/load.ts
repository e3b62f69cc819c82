interface Capacity {
  readonly cpuSecondsPerRequest: number;
  readonly requestsPerSecondPerPod: number;
  readonly idleCores: number;
  /** Sum of the limits of all containers; Infinity: no limit. */
  readonly cpuLimitCores: number;
}

/**
 * Totals of a hypothetical pod that was ready from the start. The counters of a pod are differences of these totals.
 */
export interface PodTotals {
  readonly cpuSeconds: number;
  readonly requests: number;
  readonly failedRequests: number;
}

export interface LoadState {
  readonly atSeconds: number;
  readonly totals: PodTotals;
  /** Waiting messages of the workload's queue; 0 without a queue. */
  readonly backlog: number;
  /** Current usage of each ready pod. */
  readonly cores: number;
  readonly requestsPerSecond: number;
}

export const NO_LOAD: LoadState = {
  atSeconds: 0,
  totals: { cpuSeconds: 0, requests: 0, failedRequests: 0 },
  backlog: 0,
  cores: 0,
  requestsPerSecond: 0,
};

/** Requests are served immediately or fail; messages wait in a queue. */
export interface LoadSource {
  readonly kind: 'requests' | 'queue';
  readonly curve: Curve;
  readonly capacity: Capacity;
}

const LONGEST_STEP_SECONDS = 1;

/**
 * Advances the load to `toSeconds` with `readyPods` pods that share it evenly. A step is at most 1 s long and uses the
 * load at its middle. Usage is idle + served requests * cost, up to the limit.
 */
export function advanceLoad(
  source: LoadSource,
  before: LoadState,
  toSeconds: number,
  readyPods: number,
): LoadState {
  let state = before;
  while (state.atSeconds < toSeconds) {
    const seconds = Math.min(LONGEST_STEP_SECONDS, toSeconds - state.atSeconds);
    state = oneStep(source, state, seconds, readyPods);
  }
  return state;
}

function oneStep(
  { kind, curve, capacity }: LoadSource,
  before: LoadState,
  seconds: number,
  readyPods: number,
): LoadState {
  const arriving = Math.max(0, curve(before.atSeconds + seconds / 2));
  const most = servable(capacity);
  const offered = kind === 'requests' ? arriving : before.backlog / seconds + arriving;
  const share = readyPods === 0 ? 0 : offered / readyPods;
  const served = Math.min(share, most);
  const received = kind === 'requests' ? share : served;
  const cores = Math.min(capacity.cpuLimitCores, capacity.idleCores + served * capacity.cpuSecondsPerRequest);
  const backlog =
    kind === 'requests' ? 0 : Math.max(0, before.backlog + (arriving - served * readyPods) * seconds);
  return {
    atSeconds: before.atSeconds + seconds,
    totals: {
      cpuSeconds: before.totals.cpuSeconds + cores * seconds,
      requests: before.totals.requests + received * seconds,
      failedRequests: before.totals.failedRequests + (received - served) * seconds,
    },
    backlog,
    cores,
    requestsPerSecond: received,
  };
}

function servable({
  requestsPerSecondPerPod,
  cpuSecondsPerRequest,
  cpuLimitCores,
  idleCores,
}: Capacity): number {
  if (cpuSecondsPerRequest === 0) return requestsPerSecondPerPod;
  return Math.min(requestsPerSecondPerPod, Math.max(0, cpuLimitCores - idleCores) / cpuSecondsPerRequest);
}

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
