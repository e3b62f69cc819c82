import type { Curve } from './curves.js';

/** What the pods of a workload can do, and what a request costs them. */
export interface Capacity {
  readonly cpuSecondsPerRequest: number;
  /** Requests per second that one pod serves at most. */
  readonly requestsPerSecondPerPod: number;
  /** Of a pod without requests. */
  readonly idleCores: number;
  /** The limit of the pod, all containers together; Infinity without. */
  readonly cpuLimitCores: number;
}

/** Sums since the start, each of one pod that was ready all the time. Counters of real pods are differences of them. */
export interface PodTotals {
  readonly cpuSeconds: number;
  /** Requests that were sent to it. */
  readonly requests: number;
  /** Those of them that it could not serve. */
  readonly failedRequests: number;
}

/** The load of a workload at a moment. */
export interface LoadState {
  /** Seconds since the load began. */
  readonly atSeconds: number;
  readonly totals: PodTotals;
  /** Messages that wait, where the workload consumes a queue. */
  readonly backlog: number;
  /** Now, for each ready pod. */
  readonly cores: number;
  readonly requestsPerSecond: number;
}

/** Nothing has happened yet. */
export const NO_LOAD: LoadState = {
  atSeconds: 0,
  totals: { cpuSeconds: 0, requests: 0, failedRequests: 0 },
  backlog: 0,
  cores: 0,
  requestsPerSecond: 0,
};

/** Where the load comes from: requests that are answered at once or fail, or messages that can wait. */
export interface LoadSource {
  readonly kind: 'requests' | 'queue';
  readonly curve: Curve;
  readonly capacity: Capacity;
}

const LONGEST_STEP_SECONDS = 1;

/**
 * Goes on to `toSeconds` with `readyPods` pods that share the load evenly, in steps of at most a second (the load of a
 * step is that of its middle). cpu = idle + served requests x cost, capped by the limit.
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
