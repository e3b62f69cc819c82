import { formatInstant } from '../units/time.js';
import type { MetricType } from '../scaler/spec.js';
import type { Condition } from './decision.js';
import { downscaleForbiddenUntil, upscaleForbiddenUntil } from './limits/forbidden-window.js';
import type { LimitContext } from './limits/limit.js';
import { isBoundOverHold } from './limits/limits.js';
import type { LimitedCount } from './limits/limits.js';
import { policyLimit } from './limits/policy.js';
import { scaleUpLimit } from './limits/scale-up-limit.js';
import { stepLimit } from './limits/step-limit.js';
import { describeFallback } from './proposals/fallback.js';
import type { Pick } from './proposals/pick.js';
import type { JudgedMetric } from './proposals/propose.js';
import { describeBound, describeFloor } from './schedules.js';

export const ABLE_TO_GET_SCALE: Condition = {
  type: 'AbleToScale',
  status: 'True',
  reason: 'SucceededGetScale',
  message: "the target's current scale could be read",
};

export const SCALING_DISABLED: Condition = {
  type: 'ScalingActive',
  status: 'False',
  reason: 'ScalingDisabled',
  message: 'scaling is disabled since the replica count of the target is zero',
};

/** ScalingActive where the metrics could be used, or the failure of the first one that could not. */
export function scalingActive(pick: Pick, isHeld: boolean): Condition {
  const { winner, firstFailing, firstReplaced } = pick;
  if (firstFailing !== null && (isHeld || winner === null)) return metricFailed(firstFailing);
  if (firstReplaced?.result.fallback !== undefined) {
    const message = `${describe(firstReplaced)} has ${describeFallback(firstReplaced.result.fallback)}`;
    return { type: 'ScalingActive', status: 'True', reason: 'FallbackActive', message };
  }
  return {
    type: 'ScalingActive',
    status: 'True',
    reason: 'ValidMetricFound',
    message:
      winner === null ? 'a metric has a value' : `a count could be calculated from ${describe(winner)}`,
  };
}

const FAILED_REASON: Readonly<Record<MetricType, string>> = {
  Resource: 'FailedGetResourceMetric',
  ContainerResource: 'FailedGetContainerResourceMetric',
  Pods: 'FailedGetPodsMetric',
  Object: 'FailedGetObjectMetric',
  External: 'FailedGetExternalMetric',
};

function metricFailed(metric: JudgedMetric): Condition {
  return {
    type: 'ScalingActive',
    status: 'False',
    reason: FAILED_REASON[metric.spec.type],
    message: `no count could be calculated from ${describe(metric)}: ${metric.result.error ?? ''}`,
  };
}

/** `pods metric requests-per-second`, as conditions and reasons call it. */
function describe({ spec }: JudgedMetric): string {
  return `${spec.type} metric ${spec.identity}`;
}

/** AbleToScale and ScalingLimited of a decision that went through the limits. (algorithm.md, step 6) */
export function limitConditions(context: LimitContext, limited: LimitedCount): readonly Condition[] {
  return [ableToScale(context, limited), scalingLimited(context, limited)];
}

function ableToScale(context: LimitContext, { steps, after }: LimitedCount): Condition {
  const step = (name: string): boolean => steps.some(({ limit }) => limit === name);
  if (step('forbidden_window')) return inBackoff(context, after.get('max_replicas') ?? context.current);
  const isHeld = !isBoundOverHold(steps);
  if (isHeld && step('recovery_hold')) {
    return able('RecoveryHold', 'scale-down is held until the metrics have given values for long enough');
  }
  if (isHeld && step('downscale_confirmation')) {
    return able(
      'ScaleDownStabilized',
      'a scale-down goes to the highest count of the decisions that confirm it',
    );
  }
  const isStabilized = (after.get('stabilization') ?? context.recommended) !== context.recommended;
  if (!isStabilized)
    return able('ReadyForNewScale', 'the recommendation matches the highest one of its window');
  const isUp = context.spec.behavior !== null && context.recommended >= context.current;
  return isUp
    ? able('ScaleUpStabilized', 'recent recommendations were lower than this one: the lowest counts')
    : able('ScaleDownStabilized', 'recent recommendations were higher than this one: the highest counts');
}

function able(reason: string, message: string): Condition {
  return { type: 'AbleToScale', status: 'True', reason, message };
}

function inBackoff(context: LimitContext, wanted: number): Condition {
  const up = upscaleForbiddenUntil(context);
  const down = downscaleForbiddenUntil(context);
  const both = up !== null && down !== null;
  const oneWay = wanted > context.current ? 'BackoffUpscale' : 'BackoffDownscale';
  const until = wanted > context.current ? up : down;
  return {
    type: 'AbleToScale',
    status: 'False',
    reason: both ? 'BackoffBoth' : oneWay,
    message: `the time since the last change is too short, until ${until === null ? 'later' : formatInstant(until)}`,
  };
}

/** Compares the count before the rate limits and bounds with the one after. (algorithm.md, points 28, 34, 35) */
function scalingLimited(context: LimitContext, { after }: LimitedCount): Condition {
  const stabilized = after.get('downscale_confirmation') ?? context.recommended;
  const bounded = after.get('max_replicas') ?? stabilized;
  if (bounded === stabilized) {
    return limitedBy('False', 'DesiredWithinRange', 'the desired count is within the acceptable range');
  }
  return bounded > stabilized ? tooLow(context, stabilized) : tooHigh(context, stabilized);
}

/** A count that does not rise is above `maxReplicas` because a schedule has lowered it: no limit of the way up counts. */
function tooHigh(context: LimitContext, stabilized: number): Condition {
  const { current, spec, bounds } = context;
  const isRising = stabilized > current;
  const limit = isRising ? smallest(policyLimit(stabilized, context)?.replicas, scaleUpLimit(context)) : null;
  if (limit !== null && spec.maxReplicas > limit)
    return limitedBy('True', 'ScaleUpLimit', `the count may not rise above ${limit} now`);
  const bound = describeBound('maxReplicas', spec.maxReplicas, bounds.ceiling);
  return limitedBy('True', 'TooManyReplicas', `${stabilized} replicas are desired, ${bound}`);
}

function tooLow(context: LimitContext, stabilized: number): Condition {
  const limit = largest(policyLimit(stabilized, context)?.replicas, stepLimit(context)?.replicas);
  return limit !== null && context.spec.minReplicas < limit
    ? limitedBy('True', 'ScaleDownLimit', `the count may not fall below ${limit} now`)
    : limitedBy(
        'True',
        'TooFewReplicas',
        `${stabilized} replicas are desired, ${describeFloor(context.bounds)}`,
      );
}

function limitedBy(status: 'True' | 'False', reason: string, message: string): Condition {
  return { type: 'ScalingLimited', status, reason, message };
}

function largest(a: number | undefined, b: number | undefined): number | null {
  if (a === undefined) return b ?? null;
  return b === undefined ? a : Math.max(a, b);
}

function smallest(a: number | null | undefined, b: number | null): number | null {
  if (a === null || a === undefined) return b;
  return b === null ? a : Math.min(a, b);
}
