import type { Curve } from './curves.js';

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
