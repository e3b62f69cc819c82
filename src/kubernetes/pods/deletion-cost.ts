import { objectIn, textIn, type JsonObject } from '../api/json.js';

/** Among ready pods, the ReplicaSet controller deletes the pod with the lowest cost first. */
export const COST_ANNOTATION = 'controller.kubernetes.io/pod-deletion-cost';

/** Always set together with the cost, to the same value. If the two differ, another client has changed the cost. */
export const OWN_COST_ANNOTATION = 'promscaler.dev/deletion-cost';

/** At least one of the two annotations is set. */
export interface WrittenCost {
  readonly cost: string | null;
  readonly own: string | null;
}

export function readDeletionCost(metadata: JsonObject | null): WrittenCost | null {
  const annotations = objectIn(metadata, 'annotations');
  const cost = textIn(annotations, COST_ANNOTATION);
  const own = textIn(annotations, OWN_COST_ANNOTATION);
  return cost === null && own === null ? null : { cost, own };
}

export function isOwnCost({ cost, own }: WrittenCost): boolean {
  return cost !== null && cost === own;
}
