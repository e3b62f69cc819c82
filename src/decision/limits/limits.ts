import type { LimitStep } from '../result/decision.js';
import { LIMIT_NAMES, type LimitName } from '../result/limit-names.js';
import { confirmDownscale } from './downscale-confirmation.js';
import { applyForbiddenWindow } from './forbidden-window.js';
import type { Limit, LimitContext, Limited } from './limit.js';
import { applyPolicies, policyLimit } from './policy.js';
import { stabilize } from './stabilization.js';
import { limitStep, stepLimit } from './step-limit.js';
import { describeBound, describeFloor } from './bounds.js';
import { MAX_REPLICAS } from '../../units/bounds.js';

/**
 * All limits in the order in which they are applied. Each limit gets the result of the previous limit. Without
 * `behavior`, `scale_up_limit` and `stabilization` work as in the HPA. The other limits apply only if the document sets
 * them, or after a failure.
 */
export const LIMITS: readonly { readonly name: LimitName; readonly apply: Limit }[] = [
  { name: 'stabilization', apply: stabilize },
  { name: 'recovery_hold', apply: applyRecoveryHold },
  { name: 'downscale_confirmation', apply: confirmDownscale },
  { name: 'policy', apply: applyPolicies },
  { name: 'scale_up_limit', apply: applyScaleUpLimit },
  { name: 'step_limit', apply: limitStep },
  { name: 'min_replicas', apply: limitToMinReplicas },
  { name: 'max_replicas_from', apply: limitToCeiling },
  { name: 'max_replicas', apply: limitToMaxReplicas },
  { name: 'forbidden_window', apply: applyForbiddenWindow },
];

export interface LimitedCount {
  readonly replicas: number;
  readonly steps: readonly LimitStep[];
}

export function countAfter(
  name: LimitName,
  { recommended }: Pick<LimitContext, 'recommended'>,
  { steps }: LimitedCount,
): number {
  let count = recommended;
  for (const { limit, to } of steps) if (LIMIT_NAMES.indexOf(limit) <= LIMIT_NAMES.indexOf(name)) count = to;
  return count;
}

/**
 * Returns whether `maxReplicas` has lowered a count that the recovery hold or `downscaleConfirmation` kept. A bound
 * overrides these holds and becomes the reason of the count. Source: reliability.md, decision 16.
 */
export function isBoundOverHold(steps: readonly LimitStep[]): boolean {
  return steps.some(({ limit }) => limit === 'max_replicas') && steps.some(isHold);
}

export function isHold({ limit }: Pick<LimitStep, 'limit'>): boolean {
  return limit === 'recovery_hold' || limit === 'downscale_confirmation';
}

export function applyLimits(context: LimitContext): LimitedCount {
  let replicas = context.recommended;
  let steps: LimitStep[] | null = null;
  for (const { name, apply } of LIMITS) {
    const limited = apply(replicas, context);
    if (limited === null || limited.to === replicas) continue;
    if (YIELDS_TO_BOUND.has(name) && limited.to === boundOf(replicas, limited.to, context)) continue;
    (steps ??= []).push({ limit: name, from: replicas, ...limited });
    replicas = limited.to;
  }
  return { replicas, steps: steps ?? NO_STEPS };
}

/**
 * If one of these limits leads to the same count as a bound, only the bound is reported. Source: algorithm.md, points
 * 28, 34.
 */
const YIELDS_TO_BOUND: ReadonlySet<LimitName> = new Set([
  'stabilization',
  'recovery_hold',
  'downscale_confirmation',
  'policy',
  'scale_up_limit',
  'step_limit',
  'max_replicas_from',
]);

function boundOf(from: number, to: number, context: LimitContext): number | undefined {
  return (to > from ? limitToMinReplicas : limitToMaxReplicas)(from, context)?.to;
}

/** One list for all decisions without a limit, to save memory: decisions are kept for a round or longer. */
const NO_STEPS: readonly LimitStep[] = [];

function limitToMinReplicas(replicas: number, { spec, bounds }: LimitContext): Limited | null {
  if (replicas >= spec.minReplicas) return null;
  return { to: spec.minReplicas, reason: describeFloor(bounds), until: bounds.floor?.until ?? null };
}

/**
 * Lowers a scale-up to the ceiling of `maxReplicasFrom`, but not below the current count. Never changes a scale-down.
 * Source: algorithm.md, step 6.7.
 */
function limitToCeiling(
  replicas: number,
  { spec, current, queriedMax: ceiling }: LimitContext,
): Limited | null {
  if (ceiling === null || replicas <= current || replicas <= ceiling.replicas) return null;
  const query = excerpt(spec.maxReplicasFrom?.query ?? '');
  const source =
    ceiling.error === null ? `: ${query}` : `, the last value of ${query} (no value now: ${ceiling.error})`;
  const kept = ceiling.replicas < current ? '; a ceiling never scales down' : '';
  return {
    to: Math.max(current, ceiling.replicas),
    reason: `the ceiling is ${ceiling.replicas}${source}${kept}`,
    until: null,
  };
}

const LONGEST_QUERY = 80;

function excerpt(query: string): string {
  const text = query.replace(/\s+/g, ' ').trim();
  return text.length <= LONGEST_QUERY ? text : `${text.slice(0, LONGEST_QUERY)}...`;
}

/**
 * Lowers the count to `maxReplicas`. If a schedule has lowered `maxReplicas` below the current count, the policies of
 * `behavior` and `maxScaleDownPercentPerWindow` limit how fast the count falls. Holds do not slow the fall, because a
 * bound overrides them. Source: algorithm.md, step 1; reliability.md, decision 16.
 */
function limitToMaxReplicas(replicas: number, context: LimitContext): Limited | null {
  const { spec, bounds, current } = context;
  const slowest = current > spec.maxReplicas ? slowestFall(context) : null;
  const to = Math.max(spec.maxReplicas, slowest?.to ?? 0);
  if (replicas <= to) return null;
  const reason = describeBound('maxReplicas', spec.maxReplicas, bounds.ceiling);
  const isSlowed = slowest !== null && to > spec.maxReplicas;
  return {
    to,
    reason: isSlowed ? `${reason}; ${slowest.reason}` : reason,
    until: bounds.ceiling?.until ?? null,
  };
}

function slowestFall(context: LimitContext): Limited | null {
  const policy = policyLimit(context.spec.maxReplicas, context);
  const step = stepLimit(context);
  if (policy === null || step === null) return policy ?? step;
  return step.to > policy.to ? step : policy;
}

/**
 * Holds a scale-down after missing values until every metric has returned values for long enough. Never holds a
 * scale-up. The control loop computes `state.holdScaleDownUntil` (algorithm.md, section 4).
 */
function applyRecoveryHold(replicas: number, { now, current, state }: LimitContext): Limited | null {
  const until = state.holdScaleDownUntil;
  if (until === null || until <= now || replicas >= current) return null;
  return {
    to: current,
    reason: state.holdReason ?? 'a metric has returned values for too short a time',
    until,
  };
}

/**
 * Limits one scale-up to a factor of the current count, but at least to a minimum. This is the limit of CHPA and,
 * without `behavior`, of the HPA (factor 2, minimum 4). With `behavior`, the limit applies in addition to the policies,
 * but only if the document or the preset sets it. The result is never below the current count, because the factor is at
 * least 1. Source: horizontal.go, calculateScaleUpLimit; CHPA's README.
 */
function applyScaleUpLimit(replicas: number, context: LimitContext): Limited | null {
  const limit = scaleUpLimit(context);
  if (limit === null || replicas <= limit) return null;
  const { factor, minimum } = context.spec.scaleUpLimit;
  return {
    to: limit,
    reason: `one scale-up from ${context.current} goes to at most max(${minimum}, ${factor} x ${context.current})`,
    until: null,
  };
}

function scaleUpLimit({ spec, current }: LimitContext): number | null {
  const { factor, minimum, isExplicit } = spec.scaleUpLimit;
  if (spec.behavior !== null && !isExplicit) return null;
  return Math.min(MAX_REPLICAS, Math.max(minimum, Math.trunc(factor * current)));
}
