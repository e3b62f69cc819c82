import { hasNoSeries } from './failing.js';
import { boundBy, describeLimit, lastTowards } from './headline.js';
import { type Condition, conditionOf } from './result/condition.js';
import type { PastDecision } from './result/decision.js';
import { disabledField, type LimitName } from './result/limit-names.js';
import type { Instant } from '../units/time.js';

export interface Reason {
  readonly cause: string;
  readonly until?: Instant | null;
}

interface Decided {
  readonly decision: PastDecision | null;
  readonly conditions: readonly Condition[];
}

export function atMaximum({ decision }: Decided): Reason | null {
  if (decision === null || !wantsMore(decision) || decision.minReplicas === decision.maxReplicas) return null;
  return boundBy(decision, 'max_replicas', `maxReplicas is ${decision.maxReplicas}`);
}

/**
 * Returns whether `maxReplicas` in effect keeps the count below the recommendation. Also false if an earlier limit
 * already keeps the count below `maxReplicas`.
 */
function wantsMore({ recommendedReplicas, desiredReplicas, maxReplicas }: PastDecision): boolean {
  return (recommendedReplicas ?? 0) > maxReplicas && desiredReplicas >= maxReplicas;
}

export function fixed({ decision, conditions }: Decided): Reason | null {
  if (decision === null) return null;
  const { currentReplicas, recommendedReplicas, minReplicas, maxReplicas } = decision;
  const active = conditionOf(conditions, 'ScalingActive');
  if (currentReplicas === 0 && active?.reason === 'ScalingDisabled')
    return { cause: 'the target was set to 0 replicas' };
  if (minReplicas !== maxReplicas || !wantsMore(decision)) return null;
  return { cause: `${recommendedReplicas} recommended, but minReplicas and maxReplicas are ${maxReplicas}` };
}

export function noSeries(facts: Decided): Reason | null {
  const isZero = facts.decision?.recommendedReplicas === 0 && facts.decision.metrics.some(hasNoSeries);
  const bound = isZero ? (asleep(facts) ?? atMinimum(facts)) : null;
  return bound && { cause: bound.cause };
}

export function asleep({ decision }: Decided): Reason | null {
  const isAsleep = decision?.currentReplicas === 0 && decision.desiredReplicas === 0;
  return isAsleep ? { cause: '0 recommended' } : null;
}

export function atMinimum({ decision }: Decided): Reason | null {
  if (decision === null || decision.recommendedReplicas === null) return null;
  const { currentReplicas, desiredReplicas, recommendedReplicas, minReplicas, limits } = decision;
  const isThere = currentReplicas === minReplicas && desiredReplicas === minReplicas;
  if (!isThere || recommendedReplicas > minReplicas) return null;
  if (recommendedReplicas === minReplicas)
    return { cause: `${minReplicas} recommended, which is the minimum in effect` };
  // The metric may recommend more than the minimum once its missing values return.
  if (limits.some(({ limit }) => limit === 'untrusted_metric')) return null;
  return boundBy(decision, 'min_replicas', `minReplicas is ${minReplicas}`);
}

type LimitState = 'AtMaximum' | 'Fixed' | 'PartialData' | 'Stabilizing' | 'RateLimited' | 'Backoff';

/** The state while a limit keeps the count away from the recommendation; null: the bounds determine the state. */
const LIMIT_STATES: Readonly<Record<LimitName, LimitState | null>> = {
  untrusted_metric: 'PartialData',
  stabilization: 'Stabilizing',
  recovery_hold: 'Stabilizing',
  downscale_confirmation: 'Stabilizing',
  policy: 'RateLimited',
  scale_up_limit: 'RateLimited',
  step_limit: 'RateLimited',
  min_replicas: null,
  max_replicas_from: 'AtMaximum',
  max_replicas: null,
  forbidden_window: 'Backoff',
};

/** Returns the last limit that moved the count towards its result, if the limit belongs to `state`; otherwise null. */
export function limitCause({ decision }: Decided, state: LimitState): Reason | null {
  if (decision === null || decision.recommendedReplicas === null) return null;
  const { recommendedReplicas: wanted, desiredReplicas: result, limits } = decision;
  if (wanted === result) return null;
  const step = lastTowards(result, wanted, limits);
  if (step === undefined || (disabledField(step) === null ? LIMIT_STATES[step.limit] : 'Fixed') !== state)
    return null;
  const why = describeLimit(step, decision.currentReplicas);
  return { cause: `${wanted} recommended, ${why}`, until: step.until };
}
