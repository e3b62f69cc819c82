import type { KubeObject } from '../objects/kube-object.js';
import type { LoadSource, LoadState, PodTotals } from '../model/load.js';
import type { PodPhase } from '../model/pods.js';
import type { Pods } from '../model/workload.js';
import type { Behavior } from './behavior.js';
import type { WorkloadKind } from './kinds.js';

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
