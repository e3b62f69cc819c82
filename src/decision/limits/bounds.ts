import { describeBound, describeFloor } from './scheduled-bounds.js';
import type { Limit, LimitContext } from './limit.js';
import { policyLimit } from './policy.js';
import { stepLimit } from './step-limit.js';

export const limitToMinReplicas: Limit = (replicas, { spec, bounds }) =>
  replicas >= spec.minReplicas
    ? null
    : {
        to: spec.minReplicas,
        reason: describeFloor(bounds),
        until: bounds.floor?.until ?? null,
      };

/**
 * Lowers the count to `maxReplicas`. If a schedule has lowered `maxReplicas` below the current count, the policies of
 * `behavior` and `maxScaleDownPercentPerWindow` limit how fast the count follows. Holds do not, because bounds override
 * them. Source: algorithm.md, step 1; reliability.md, decision 16.
 */
export const limitToMaxReplicas: Limit = (replicas, context) => {
  const { spec, bounds, current } = context;
  const slowest = current > spec.maxReplicas ? slowestFall(context) : null;
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

function slowestFall(context: LimitContext): { readonly replicas: number; readonly reason: string } | null {
  const policy = policyLimit(context.spec.maxReplicas, context);
  const step = stepLimit(context);
  if (policy === null || step === null) return policy ?? step;
  return step.replicas > policy.replicas ? step : policy;
}
