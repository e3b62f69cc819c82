import type { Condition, LimitStep } from './decision.js';
import { ABLE_TO_GET_SCALE, SCALING_DISABLED } from './conditions.js';
import { formatInstant } from '../units/time.js';
import { describeBound } from './schedules.js';
import type { BoundBy, Bounds } from './schedules.js';
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
 * is looked at and no limit applies. A ceiling that a schedule has lowered is no short cut: the highest one that the
 * document and its schedules know is. Null where a decision on metrics is due. (algorithm.md, point 22)
 */
export function takeShortCut(
  { scaler, target, state }: Snapshot,
  bounds: Bounds,
  highestCeiling: number,
): ShortCut | null {
  const { minReplicas } = scaler.spec;
  const { specReplicas } = target;
  if (specReplicas === 0 && minReplicas > 0 && !state.zeroedBySelf) {
    const reason = 'scaling is disabled: the target has 0 replicas, set by a person';
    return { replicas: 0, steps: [], conditions: [ABLE_TO_GET_SCALE, SCALING_DISABLED], reason };
  }
  if (specReplicas > highestCeiling)
    return toBound(specReplicas, { limit: 'max_replicas', to: highestCeiling, by: null });
  if (specReplicas < minReplicas)
    return toBound(specReplicas, { limit: 'min_replicas', to: minReplicas, by: bounds.floor });
  return null;
}

interface Bound {
  readonly limit: 'min_replicas' | 'max_replicas';
  readonly to: number;
  /** Null: the document's own. */
  readonly by: BoundBy | null;
}

function toBound(from: number, { limit, to, by }: Bound): ShortCut {
  const field = limit === 'min_replicas' ? 'minReplicas' : 'maxReplicas';
  const bound = by === null ? `${field} (${to})` : `the floor: ${describeBound(field, to, by)}`;
  const reason = `${from} replicas are ${from > to ? 'above' : 'below'} ${bound}`;
  const until = by === null ? null : formatInstant(by.until);
  return {
    replicas: to,
    steps: [{ limit, from, to, reason, until }],
    conditions: [ABLE_TO_GET_SCALE],
    reason,
  };
}
