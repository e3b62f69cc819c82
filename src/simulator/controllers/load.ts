interface Capacity {
  readonly cpuSecondsPerRequest: number;
  readonly requestsPerSecondPerPod: number;
  readonly idleCores: number;
  /** The sum of the limits of all containers; Infinity: there is no limit. */
  readonly cpuLimitCores: number;
}

/**
 * The counters of an imaginary pod that has been ready since the start of the simulation. The counters of a real pod
 * increase by the same amounts while the pod is ready.
 */
export interface PodTotals {
  readonly cpuSeconds: number;
  readonly requests: number;
  readonly failedRequests: number;
}

export interface LoadState {
  readonly atSeconds: number;
  readonly totals: PodTotals;
  /** The number of waiting messages in the queue of the workload; 0 without a queue. */
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

/** A source of load. Requests are served at once or fail, while messages wait in a queue. */
export interface LoadSource {
  readonly kind: 'requests' | 'queue';
  readonly curve: Curve;
  readonly capacity: Capacity;
}

const LONGEST_STEP_SECONDS = 1;

/**
 * Advances the load to `toSeconds`, in steps of at most 1 s that use the load at their middle. The `readyPods` share
 * the load evenly. A pod uses the CPU of an idle pod plus the cost of its requests, at most its limit.
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

/** Returns a load, such as requests per second, at a time in seconds since its start. Negative values count as 0. */
export type Curve = (seconds: number) => number;

export function constant(value: number): Curve {
  return () => value;
}

/**
 * Returns a sine wave between `low` and `high` with the period `periodSeconds` (default: a day). It starts at `low`.
 */
export function dailyWave(options: {
  readonly low: number;
  readonly high: number;
  readonly periodSeconds?: number;
}): Curve {
  const { low, high, periodSeconds = 86_400 } = options;
  return (seconds) => low + ((high - low) * (1 - Math.cos((2 * Math.PI * seconds) / periodSeconds))) / 2;
}

/**
 * Returns a curve that starts at `base`. At `atSeconds`, it rises linearly to `peak` within `riseSeconds`, stays there
 * for `holdSeconds`, and falls to `base` within `fallSeconds`.
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
