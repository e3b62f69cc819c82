import { objectIn, textIn, type JsonObject } from '../json.js';

/** What the ReplicaSet controller looks at before it deletes pods: of those that are ready the cheapest go first. */
export const COST_ANNOTATION = 'controller.kubernetes.io/pod-deletion-cost';

/** Beside it where the cost is ours, with the same value: a cost that somebody has changed since is theirs. */
export const OWN_COST_ANNOTATION = 'promscaler.dev/deletion-cost';

/** The annotations of a pod as they are written; at least one of them is there. */
export interface WrittenCost {
  readonly cost: string | null;
  readonly own: string | null;
}

/** The annotations of a pod's metadata; null where it has neither. */
export function readDeletionCost(metadata: JsonObject | null): WrittenCost | null {
  const annotations = objectIn(metadata, 'annotations');
  const cost = textIn(annotations, COST_ANNOTATION);
  const own = textIn(annotations, OWN_COST_ANNOTATION);
  return cost === null && own === null ? null : { cost, own };
}

/** Whether a cost is ours, and has been left as we set it. */
export function isOwnCost({ cost, own }: WrittenCost): boolean {
  return cost !== null && cost === own;
}
