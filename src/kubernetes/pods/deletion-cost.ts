import { objectIn, textIn, type JsonObject } from '../json.js';

/** Read by the ReplicaSet controller: among ready pods it deletes the pod with the lowest cost first. */
export const COST_ANNOTATION = 'controller.kubernetes.io/pod-deletion-cost';

/** Set to the same value if the cost is ours: if the two differ, another client has changed the cost. */
export const OWN_COST_ANNOTATION = 'promscaler.dev/deletion-cost';

/** The annotations of a pod; at least one is set. */
export interface WrittenCost {
  readonly cost: string | null;
  readonly own: string | null;
}

/** Returns the annotations of a pod; null if it has neither. */
export function readDeletionCost(metadata: JsonObject | null): WrittenCost | null {
  const annotations = objectIn(metadata, 'annotations');
  const cost = textIn(annotations, COST_ANNOTATION);
  const own = textIn(annotations, OWN_COST_ANNOTATION);
  return cost === null && own === null ? null : { cost, own };
}

/** Returns whether a cost is ours and unchanged. */
export function isOwnCost({ cost, own }: WrittenCost): boolean {
  return cost !== null && cost === own;
}
