import { MAX_REPLICAS } from '../../units/replicas.js';
import type { Limit, LimitContext } from './limit.js';

/**
 * The limit of CHPA for one scale-up, which without `behavior` is also that of the HPA (factor 2, minimum 4). With
 * `behavior` it applies only if the document or preset sets it; then the lower of policy and limit applies. Never below
 * the current count, because the factor is at least 1. Source: horizontal.go, calculateScaleUpLimit; CHPA's README.
 */
export const applyScaleUpLimit: Limit = (replicas, context) => {
  const limit = scaleUpLimit(context);
  if (limit === null || replicas <= limit) return null;
  const { factor, minimum } = context.spec.scaleUpLimit;
  return {
    to: limit,
    reason: `from ${context.current} at most max(${minimum}, ${factor} times) at once`,
    until: null,
  };
};

function scaleUpLimit({ spec, current }: LimitContext): number | null {
  const { factor, minimum, isExplicit } = spec.scaleUpLimit;
  if (spec.behavior !== null && !isExplicit) return null;
  return Math.min(MAX_REPLICAS, Math.max(minimum, Math.trunc(factor * current)));
}
