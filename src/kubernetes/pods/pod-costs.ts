import type { Pod } from '../../decision/snapshot/snapshot.js';
import type { LabelSelector } from '../../scaler/spec.js';
import { COST_ANNOTATION, OWN_COST_ANNOTATION, isOwnCost, type WrittenCost } from './watched-pod.js';
import type { PodStore } from './pod-store.js';
import type { Transport } from '../requests/transport.js';

export interface CostedPod {
  readonly pod: Pod;
  readonly resourceVersion: string;
  /** The cost, an int32; null: unset. An invalid value counts as 0, as in Kubernetes. */
  readonly cost: number | null;
  readonly isOwn: boolean;
}

/** Reads pod deletion costs from the watch, and writes them one by one. */
export interface PodCosts {
  /** Returns the pods of a namespace that match the selector, sorted by name. Throws what `Cluster.listPods` throws. */
  readonly list: (namespace: string, selector: LabelSelector) => readonly CostedPod[];
  /** Returns whether promscaler has set the cost of any pod in the namespace. Throws what `list` throws. */
  readonly hasOwn: (namespace: string) => boolean;
  /**
   * Sets the cost of a pod; null removes it. Throws `KubernetesError`: `conflict` if the pod has changed since it was
   * listed, so that the cost of another client is never overwritten. Never retries.
   */
  readonly set: (namespace: string, change: CostChange, signal: AbortSignal) => Promise<void>;
}

export interface CostChange {
  readonly pod: CostedPod;
  readonly cost: number | null;
}

const DEADLINE_MS = 1000;

export function createPodCosts(
  transport: Transport,
  storeOf: (namespace: string) => Pick<PodStore, 'selectWatched' | 'hasOwnCosts'>,
): PodCosts {
  return {
    list: (namespace, selector) =>
      storeOf(namespace)
        .selectWatched(namespace, selector)
        .map(({ pod, resourceVersion, cost }) => ({
          pod,
          resourceVersion,
          cost: cost === undefined ? null : costNumber(cost),
          isOwn: cost !== undefined && isOwnCost(cost),
        })),
    hasOwn: (namespace) => storeOf(namespace).hasOwnCosts(namespace),
    set: async (namespace, { pod: { pod, resourceVersion }, cost }, signal) => {
      const value = cost === null ? null : String(cost);
      await transport.request({
        lane: 'costs',
        path: `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod.name)}`,
        query: { fieldManager: 'promscaler' },
        body: {
          metadata: {
            resourceVersion,
            annotations: { [COST_ANNOTATION]: value, [OWN_COST_ANNOTATION]: value },
          },
        },
        doing: `${cost === null ? 'removing' : 'setting'} the deletion cost of pod ${namespace}/${pod.name}`,
        verb: 'patch',
        resource: 'pods',
        deadlineMs: DEADLINE_MS,
        signal,
      });
    },
  };
}

function costNumber({ cost }: WrittenCost): number | null {
  if (cost === null) return null;
  return /^[+-]?\d{1,10}$/.test(cost) ? Number(cost) : 0;
}
