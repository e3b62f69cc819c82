import type { ScalerSpec, ScalingPolicy, ScalingRules } from '../../scaler/spec.js';
import { addSeconds, earliest, type Instant } from '../../units/time.js';
import { MAX_REPLICAS } from '../../units/bounds.js';
import { countOf } from '../../units/format.js';
import { DISABLED } from '../result/limit-names.js';
import type { Limit, LimitContext, Limited } from './limit.js';
import { stepWindowSeconds } from './step-limit.js';

/** Applies the rate policies of `behavior` for the direction of the change. Without `behavior`, there are none. */
export const applyPolicies: Limit = (replicas, context) => {
  const limit = policyLimit(replicas, context);
  if (limit === null) return null;
  const isAllowed = replicas > context.current ? replicas <= limit.to : replicas >= limit.to;
  return isAllowed ? null : limit;
};

/**
 * Returns how far the policies let the count move towards `replicas`; null: there is no `behavior` or no change. The
 * result is at least 0 and never on the other side of the current count, because a policy slows a change but does not
 * reverse it.
 * Source: horizontal.go, calculateScaleUpLimitWithScalingRules and its counterpart for scale-down (algorithm.md, points
 * 31-33).
 */
export function policyLimit(replicas: number, context: LimitContext): Limited | null {
  const { spec, current } = context;
  if (spec.behavior === null || replicas === current) return null;
  const direction = replicas > current ? 1 : -1;
  const rules = direction === 1 ? spec.behavior.scaleUp : spec.behavior.scaleDown;
  if (rules.selectPolicy === 'Disabled') {
    return { to: current, reason: `${DISABLED}${fieldOf(direction)}`, until: null };
  }
  const { policy, limit } = select(rules, direction, context);
  const to = direction === 1 ? Math.max(current, limit) : Math.max(0, Math.min(current, limit));
  return {
    to,
    reason: `at most ${amountOf(policy)} in ${policy.periodSeconds} s`,
    until: endOfPeriod(policy, direction, to === current ? null : context.now, context),
  };
}

function amountOf({ type, value }: ScalingPolicy): string {
  return type === 'Percent' ? `${value} %` : countOf(value, 'pod');
}

type Direction = 1 | -1;

function fieldOf(direction: Direction): string {
  return direction === 1 ? 'behavior.scaleUp' : 'behavior.scaleDown';
}

function select(
  rules: ScalingRules,
  direction: Direction,
  context: LimitContext,
): { readonly policy: ScalingPolicy; readonly limit: number } {
  const limits = rules.policies.map((policy) => ({ policy, limit: limitOf(policy, direction, context) }));
  const wantsHighest = (rules.selectPolicy === 'Max') === (direction === 1);
  const selected = limits.reduce((best, next) => {
    const isBetter = wantsHighest ? next.limit > best.limit : next.limit < best.limit;
    return isBetter ? next : best;
  });
  return selected;
}

/**
 * Returns the count that one policy allows. The policy applies to the count at the start of its period: the current
 * count minus all changes within the period, in both directions. The calculation uses doubles, as in the HPA: 100 + 10
 * % is 111, 100 - 90 % is 9.
 */
function limitOf(policy: ScalingPolicy, direction: Direction, context: LimitContext): number {
  const changed = recentEvents(policy, direction, context).reduce((sum, event) => sum + event.change, 0);
  const start = context.current - changed;
  const limit =
    policy.type === 'Pods' ? start + direction * policy.value : percentOf(start, policy.value, direction);
  return Math.max(-MAX_REPLICAS, Math.min(MAX_REPLICAS, limit));
}

function percentOf(start: number, percent: number, direction: Direction): number {
  return direction === 1 ? Math.ceil(start * (1 + percent / 100)) : Math.trunc(start * (1 - percent / 100));
}

/**
 * Returns the changes within the period of a policy. A change in the other direction makes the policy allow more. It is
 * therefore included only if even its earliest possible time is within the period.
 */
function recentEvents(
  policy: ScalingPolicy,
  direction: Direction,
  { now, state }: LimitContext,
): LimitContext['state']['scaleEvents'] {
  const start = addSeconds(now, -policy.periodSeconds);
  return state.scaleEvents.filter(({ at, earliest, change }) =>
    change * direction > 0 ? at > start : at > start && (earliest ?? at) > start,
  );
}

/**
 * Returns when the policy allows more, provided that this decision is applied: when the first change in its direction
 * leaves the period. `changedAt`: the time of the change of this decision; null: it has none. Null: there is no change.
 */
function endOfPeriod(
  policy: ScalingPolicy,
  direction: Direction,
  changedAt: Instant | null,
  context: LimitContext,
): Instant | null {
  const first = recentEvents(policy, direction, context)
    .filter(({ change }) => change * direction > 0)
    .reduce<Instant | null>((least, { at }) => (least === null ? at : earliest(least, at)), changedAt);
  return first === null ? null : addSeconds(first, policy.periodSeconds);
}

/** The longest period of the HPA's default policies, which apply to a document without `behavior`. */
const DEFAULT_POLICY_PERIOD_SECONDS = 15;

/** Returns how many seconds of past changes the limits need. */
export function longestPeriodSeconds(spec: ScalerSpec): number {
  const { behavior, maxScaleDownPercentPerWindow } = spec;
  const stepWindow = maxScaleDownPercentPerWindow === null ? 0 : stepWindowSeconds(spec);
  if (behavior === null) return Math.max(DEFAULT_POLICY_PERIOD_SECONDS, stepWindow);
  const policies = [...behavior.scaleUp.policies, ...behavior.scaleDown.policies];
  return policies.reduce((longest, { periodSeconds }) => Math.max(longest, periodSeconds), stepWindow);
}
