import type { KubeObject } from '../objects/kube-object.js';
import { type LoadSource, type LoadState, type PodTotals, type Curve, constant } from './load.js';
import type { PodPhase, Pods, PodTiming } from './step-workload.js';
import type { WorkloadKind } from './kinds.js';
import { milliToNumber, parseQuantity } from '../../units/quantity.js';
import { type JsonObject, listAt, stringAt } from '../kinds/json.js';

/** How the pods of a workload behave. It is not part of their manifest. */
export interface Behavior {
  readonly timing: PodTiming;
  readonly cpuSecondsPerRequest: number;
  /** Requests (or messages) per second that one pod can serve. */
  readonly requestsPerSecondPerPod: number;
  readonly idleCores: number;
  /** The working set of a pod. */
  readonly memoryBytes: number;
  /** The queue from which the workload takes messages; null: it serves requests. */
  readonly queue: string | null;
  /** Maps the seconds since the load was set to requests (or messages) per second. */
  readonly load: Curve;
}

/**
 * A web service without load. A request takes 50 ms of CPU time. Pods take 2 s to start and another 3 s to become
 * ready.
 */
export const DEFAULT_BEHAVIOR: Behavior = {
  timing: { startSeconds: 2, readySeconds: 3, terminationSeconds: 2, jitterRatio: 0 },
  cpuSecondsPerRequest: 0.05,
  requestsPerSecondPerPod: Number.POSITIVE_INFINITY,
  idleCores: 0.005,
  memoryBytes: 128 * 1024 * 1024,
  queue: null,
  load: constant(0),
};

/** Returns the load of pods with this template. Its curve starts at `offsetSeconds`. */
export function loadSource(behavior: Behavior, template: JsonObject, offsetSeconds: number): LoadSource {
  const { cpuSecondsPerRequest, requestsPerSecondPerPod, idleCores, load } = behavior;
  return {
    kind: behavior.queue === null ? 'requests' : 'queue',
    curve: (seconds) => load(seconds - offsetSeconds),
    capacity: { cpuSecondsPerRequest, requestsPerSecondPerPod, idleCores, cpuLimitCores: cpuLimit(template) },
  };
}

/** Returns the sum of the CPU limits in cores; Infinity: a container has no limit. */
function cpuLimit(template: JsonObject): number {
  let cores = 0;
  for (const container of listAt(template, 'spec', 'containers')) {
    const limit = parseQuantity(stringAt(container, 'resources', 'limits', 'cpu') ?? '');
    if (limit === null) return Number.POSITIVE_INFINITY;
    cores += milliToNumber(limit);
  }
  return cores === 0 ? Number.POSITIVE_INFINITY : cores;
}

/** What is known about a workload besides its object. Only `controllers/` changes it. */
export interface Runtime {
  readonly kind: WorkloadKind;
  readonly namespace: string;
  readonly name: string;
  /** The stored object; null: the workload was deleted, and its pods are terminating. */
  object: KubeObject | null;
  pods: Pods;
  readonly replicaSets: Set<string>;
  /** Maps the name of a pod to the phase that was last written to its stored object. */
  readonly written: Map<string, PodPhase>;
  behavior: Behavior;
  /** Seconds from the start of the simulation until the load was set. */
  loadOffsetSeconds: number;
  load: LoadState;
  /**
   * The source of the load, computed from template and behavior; null: one of them has changed, so it must be computed
   * again.
   */
  source: LoadSource | null;
  /**
   * Maps the name of a pod to the totals at the time when the pod became ready (`from`), and at the time when it
   * stopped being ready (`to`; null: it is still ready).
   */
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
