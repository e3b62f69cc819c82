import type { Condition, LimitStep } from './decision.js';
import { ABLE_TO_GET_SCALE, SCALING_DISABLED } from './conditions.js';
import type { Snapshot } from './snapshot.js';

/** A decision that needs no metric. */
export interface ShortCut {
  readonly replicas: number;
  readonly steps: readonly LimitStep[];
  readonly conditions: readonly Condition[];
  readonly reason: string;
}

/**
 * Replicas outside the bounds go to the nearest one at once, and a 0 that a person set (min above 0) stays: no metric
 * is looked at and no limit applies. Null where a decision on metrics is due. (algorithm.md, point 22)
 */
export function takeShortCut({ scaler, target, state }: Snapshot): ShortCut | null {
  const { minReplicas, maxReplicas } = scaler.spec;
  const { specReplicas } = target;
  if (specReplicas === 0 && minReplicas > 0 && !state.zeroedBySelf) {
    const reason = 'scaling is disabled: the target has 0 replicas, set by a person';
    return { replicas: 0, steps: [], conditions: [ABLE_TO_GET_SCALE, SCALING_DISABLED], reason };
  }
  if (specReplicas > maxReplicas) return toBound('max_replicas', specReplicas, maxReplicas);
  if (specReplicas < minReplicas) return toBound('min_replicas', specReplicas, minReplicas);
  return null;
}

function toBound(limit: 'min_replicas' | 'max_replicas', from: number, to: number): ShortCut {
  const field = limit === 'min_replicas' ? 'minReplicas' : 'maxReplicas';
  const reason = `${from} replicas are ${from > to ? 'above' : 'below'} ${field} (${to})`;
  return {
    replicas: to,
    steps: [{ limit, from, to, reason, until: null }],
    conditions: [ABLE_TO_GET_SCALE],
    reason,
  };
}
