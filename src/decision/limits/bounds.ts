import { describeBound } from '../schedules.js';
import type { Limit } from './limit.js';
import { policyLimit } from './policy.js';

/** Not below `minReplicas`. */
export const limitToMinReplicas: Limit = (replicas, { spec, bounds }) =>
  replicas >= spec.minReplicas
    ? null
    : {
        to: spec.minReplicas,
        reason: describeBound('minReplicas', spec.minReplicas, bounds.floor),
        until: bounds.floor?.until ?? null,
      };

/**
 * Not above `maxReplicas`. Where a schedule has lowered it below the current count, the policies of `behavior` say how
 * fast the count follows. (algorithm.md, step 1)
 */
export const limitToMaxReplicas: Limit = (replicas, context) => {
  const { spec, bounds, current } = context;
  const slowest = current > spec.maxReplicas ? policyLimit(spec.maxReplicas, context) : null;
  const to = Math.max(spec.maxReplicas, slowest?.replicas ?? 0);
  if (replicas <= to) return null;
  const reason = describeBound('maxReplicas', spec.maxReplicas, bounds.ceiling);
  const isSlowed = slowest !== null && to > spec.maxReplicas;
  return {
    to,
    reason: isSlowed ? `${reason}; ${slowest.reason}` : reason,
    until: bounds.ceiling?.until ?? null,
  };
};
