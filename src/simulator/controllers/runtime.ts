import type { KubeObject } from '../objects/kube-object.js';
import { type LoadSource, type LoadState, type PodTotals, type Curve, constant } from './load.js';
import type { PodPhase, Pods, PodTiming } from './step-workload.js';
import type { WorkloadKind } from './kinds.js';
import { milliToNumber, parseQuantity } from '../../units/quantity.js';
import { type JsonObject, listAt, stringAt } from '../kinds/json.js';

/** The behavior of a workload's pods, which no manifest contains. */
export interface Behavior {
  readonly timing: PodTiming;
  readonly cpuSecondsPerRequest: number;
  /** Requests (or messages) per second that one pod can serve. */
  readonly requestsPerSecondPerPod: number;
  readonly idleCores: number;
  /** Working set of an idle pod; each request per second adds `memoryBytesPerRequestRate`. */
  readonly memoryBytes: number;
  readonly memoryBytesPerRequestRate: number;
  /** The queue that the workload consumes; null if it serves requests. */
  readonly queue: string | null;
  /** Requests (or messages) per second as a function of the seconds since the load was set. */
  readonly load: Curve;
}

/** A web service without load: 50 ms of a core per request, 2 s to start, 3 s to be ready. */
export const DEFAULT_BEHAVIOR: Behavior = {
  timing: { startSeconds: 2, readySeconds: 3, terminationSeconds: 2, jitterRatio: 0 },
  cpuSecondsPerRequest: 0.05,
  requestsPerSecondPerPod: Number.POSITIVE_INFINITY,
  idleCores: 0.005,
  memoryBytes: 128 * 1024 * 1024,
  memoryBytesPerRequestRate: 0,
  queue: null,
  load: constant(0),
};

/** Returns the load of pods with this template; the curve starts at `offsetSeconds`. */
export function loadSource(behavior: Behavior, template: JsonObject, offsetSeconds: number): LoadSource {
  const { cpuSecondsPerRequest, requestsPerSecondPerPod, idleCores, load } = behavior;
  return {
    kind: behavior.queue === null ? 'requests' : 'queue',
    curve: (seconds) => load(seconds - offsetSeconds),
    capacity: { cpuSecondsPerRequest, requestsPerSecondPerPod, idleCores, cpuLimitCores: cpuLimit(template) },
  };
}

/** Returns the sum of the CPU limits in cores; Infinity if a container has none. */
function cpuLimit(template: JsonObject): number {
  let cores = 0;
  for (const container of listAt(template, 'spec', 'containers')) {
    const limit = parseQuantity(stringAt(container, 'resources', 'limits', 'cpu') ?? '');
    if (limit === null) return Number.POSITIVE_INFINITY;
    cores += milliToNumber(limit);
  }
  return cores === 0 ? Number.POSITIVE_INFINITY : cores;
}

/** The state of a workload in addition to its object. Only `controllers/` changes it. */
export interface Runtime {
  readonly kind: WorkloadKind;
  readonly namespace: string;
  readonly name: string;
  /** Null after deletion, while pods terminate. */
  object: KubeObject | null;
  pods: Pods;
  readonly replicaSets: Set<string>;
  /** Pod name -> phase in the stored object. */
  readonly written: Map<string, PodPhase>;
  behavior: Behavior;
  /** When the load was set, in seconds since the start of the simulation. */
  loadOffsetSeconds: number;
  load: LoadState;
  /** Cached until the template or the behavior changes. */
  source: LoadSource | null;
  /** Totals of the workload when a pod became ready and when it stopped being ready (null while it is ready). */
  readonly meters: Map<string, { readonly from: PodTotals; readonly to: PodTotals | null }>;
}

export function podTotals({ meters, load }: Runtime, podName: string): PodTotals {
  const meter = meters.get(podName);
  if (meter === undefined) return { cpuSeconds: 0, requests: 0, failedRequests: 0 };
  const to = meter.to ?? load.totals;
  return {
    cpuSeconds: to.cpuSeconds - meter.from.cpuSeconds,
    requests: to.requests - meter.from.requests,
    failedRequests: to.failedRequests - meter.from.failedRequests,
  };
}
