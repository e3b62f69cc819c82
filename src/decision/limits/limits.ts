import type { LimitName, LimitStep } from '../result/decision.js';
import { limitToMaxReplicas, limitToMinReplicas } from './bounds.js';
import { confirmDownscale } from './downscale-confirmation.js';
import { applyForbiddenWindow } from './forbidden-window.js';
import type { Limit, LimitContext } from './limit.js';
import { applyPolicies } from './policy.js';
import { applyRecoveryHold } from './recovery-hold.js';
import { applyScaleUpLimit } from './scale-up-limit.js';
import { stabilize } from './stabilization.js';
import { limitStep } from './step-limit.js';

/**
 * All limits in the order applied. Each starts with the result of the previous one. Without `behavior`,
 * `scale_up_limit` and `stabilization` are those of the HPA. The other limits apply only if the document sets them or
 * after a failure.
 */
export const LIMITS: readonly { readonly name: LimitName; readonly apply: Limit }[] = [
  { name: 'stabilization', apply: stabilize },
  { name: 'recovery_hold', apply: applyRecoveryHold },
  { name: 'downscale_confirmation', apply: confirmDownscale },
  { name: 'policy', apply: applyPolicies },
  { name: 'scale_up_limit', apply: applyScaleUpLimit },
  { name: 'step_limit', apply: limitStep },
  { name: 'min_replicas', apply: limitToMinReplicas },
  { name: 'max_replicas', apply: limitToMaxReplicas },
  { name: 'forbidden_window', apply: applyForbiddenWindow },
];

export interface LimitedCount {
  readonly replicas: number;
  readonly steps: readonly LimitStep[];
}

/** Returns the count after this limit, which may not have changed it. */
export function countAfter(
  name: LimitName,
  { recommended }: Pick<LimitContext, 'recommended'>,
  { steps }: LimitedCount,
): number {
  let count = recommended;
  for (const { limit, to } of steps) if (placeOf(limit) <= placeOf(name)) count = to;
  return count;
}

function placeOf(name: LimitName): number {
  return LIMITS.findIndex((limit) => limit.name === name);
}

/**
 * Whether `maxReplicas` has lowered a count that a recovery hold or a confirmation kept. Bounds override holds, and the
 * reason is then the bound. Source: reliability.md, decision 16.
 */
export function isBoundOverHold(steps: readonly LimitStep[]): boolean {
  return steps.some(({ limit }) => limit === 'max_replicas') && steps.some(isHold);
}

export function isHold({ limit }: LimitStep): boolean {
  return limit === 'recovery_hold' || limit === 'downscale_confirmation';
}

export function applyLimits(context: LimitContext): LimitedCount {
  let replicas = context.recommended;
  let steps: LimitStep[] | null = null;
  for (const { name, apply } of LIMITS) {
    const limited = apply(replicas, context);
    if (limited !== null && limited.to !== replicas) {
      (steps ??= []).push({ limit: name, from: replicas, ...limited });
      replicas = limited.to;
    }
  }
  return { replicas, steps: steps ?? NO_STEPS };
}

/** Shared by the decisions of all scalers, which are kept for a round and longer. */
const NO_STEPS: readonly LimitStep[] = [];
