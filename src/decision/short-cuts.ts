import type { Condition } from './result/condition.js';
import type { LimitStep } from './result/decision.js';
import { ABLE_TO_GET_SCALE, SCALING_DISABLED } from './conditions.js';
import { describeFloor } from './limits/scheduled-bounds.js';
import type { Bounds } from './limits/scheduled-bounds.js';
import type { Snapshot } from './snapshot/snapshot.js';

export interface ShortCut {
  readonly replicas: number;
  readonly steps: readonly LimitStep[];
  readonly conditions: readonly Condition[];
  readonly reason: string;
}

/**
 * Moves replicas outside of the bounds to the nearest bound, and keeps a 0 that was set manually (with `minReplicas`
 * above 0). Uses no metric and applies no limit. The upper bound is the highest ceiling of the document and its
 * schedules, not one that a schedule has lowered. Null if the decision needs metrics. Source: algorithm.md, point 22.
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
  if (specReplicas > highestCeiling) {
    const isInForce = highestCeiling === bounds.maxReplicas;
    const which = isInForce ? 'maxReplicas' : 'the highest maxReplicas of the document and its schedules';
    return toBound(specReplicas, {
      limit: 'max_replicas',
      to: highestCeiling,
      reason: `${specReplicas} replicas are above ${which} (${highestCeiling})`,
      until: null,
    });
  }
  if (specReplicas < minReplicas) {
    const isOwn = bounds.floor === null && bounds.clippedFloor === null;
    const which = isOwn ? `minReplicas (${minReplicas})` : `the floor: ${describeFloor(bounds)}`;
    return toBound(specReplicas, {
      limit: 'min_replicas',
      to: minReplicas,
      reason: `${specReplicas} replicas are below ${which}`,
      until: bounds.floor?.until ?? null,
    });
  }
  return null;
}

type Bound = Pick<LimitStep, 'limit' | 'to' | 'reason' | 'until'>;

function toBound(from: number, { limit, to, reason, until }: Bound): ShortCut {
  return {
    replicas: to,
    steps: [{ limit, from, to, reason, until }],
    conditions: [ABLE_TO_GET_SCALE],
    reason,
  };
}
