import type { KubeObject } from '../objects/kube-object.js';
import type { LoadSource, LoadState, PodTotals } from '../model/load.js';
import type { PodPhase } from '../model/pods.js';
import type { Pods } from '../model/workload.js';
import type { Behavior } from './behavior.js';
import type { WorkloadKind } from './kinds.js';

/** What the simulator keeps for each workload beside its object. Only `controllers/` changes it. */
export interface Runtime {
  readonly kind: WorkloadKind;
  readonly namespace: string;
  readonly name: string;
  /** The object as last seen; null after its deletion, while pods are on their way out. */
  object: KubeObject | null;
  pods: Pods;
  /** The names of its ReplicaSets, for kinds that have them. */
  readonly replicaSets: Set<string>;
  /** The phase in which each pod was written last. */
  readonly written: Map<string, PodPhase>;
  behavior: Behavior;
  /** When the load was set, in seconds since the start. */
  loadOffsetSeconds: number;
  load: LoadState;
  /** Made when first needed after a change of template or behavior. */
  source: LoadSource | null;
  /** The totals of the workload when a pod became ready, and when it ceased to be (null while it is). */
  readonly meters: Map<string, { readonly from: PodTotals; readonly to: PodTotals | null }>;
}

/** What a pod did in its life. */
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
