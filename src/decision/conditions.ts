import { describeZero, NOT_CALCULATED } from './failing.js';
import { describeFallback, type PickedProposal } from './proposals/propose.js';
import { describeFailure, type Failure } from '../units/failure.js';
import { rememberByText } from '../units/recent-map.js';
import { formatInstant } from '../units/time.js';
import type { MetricSpec, MetricType } from '../scaler/spec.js';
import { buildCondition, type Condition, type ReasonOf } from './result/condition.js';
import type { LimitStep } from './result/decision.js';
import type { LimitName } from './result/limit-names.js';
import { downscaleForbiddenUntil, upscaleForbiddenUntil } from './limits/forbidden-window.js';
import type { LimitContext } from './limits/limit.js';
import { countAfter, isBoundOverHold, isHold, type LimitedCount } from './limits/limits.js';
import { describeBound, describeFloor } from './limits/bounds.js';

export const ABLE_TO_GET_SCALE = able('SucceededGetScale', "the target's current scale was read");

export const SCALING_DISABLED = buildCondition(
  'ScalingActive',
  'ScalingDisabled',
  'scaling is disabled since the replica count of the target is zero',
);

/**
 * The conditions of a document that was not evaluated since its last change. They replace the conditions of its earlier
 * version.
 */
export const NOT_EVALUATED: readonly Condition[] = [
  buildCondition(
    'ScalingActive',
    'NotEvaluated',
    'no metric of this version of the document has been evaluated yet',
  ),
  buildCondition(
    'ScalingLimited',
    'NotEvaluated',
    'no recommendation of this version of the document has been compared with the bounds yet',
  ),
  buildCondition(
    'TargetReached',
    'NotEvaluated',
    'the pods have not been compared with spec.replicas for this version of the document yet',
  ),
];

/**
 * The condition `ScalingLimited` while a metric has no full value and the current count is kept. The HPA keeps its
 * previous condition, whose message is about an earlier decision.
 */
export const NOT_COMPARED = buildCondition(
  'ScalingLimited',
  'NotEvaluated',
  'a metric has no complete value, so no recommendation was compared with the bounds',
);

/**
 * The conditions while the target does not exist: the previous conditions are about the deleted workload. If the target
 * exists but cannot be read, the previous conditions remain, as in the HPA: the pods still run, and most failures are
 * short.
 */
export const WITHOUT_TARGET: readonly Condition[] = [
  buildCondition('ScalingActive', 'NotEvaluated', 'the target does not exist, so no metric is evaluated'),
  buildCondition(
    'ScalingLimited',
    'NotEvaluated',
    'the target does not exist, so no replica count is calculated',
  ),
  buildCondition('Held', 'NotEvaluated', 'the target does not exist, so no decision is held'),
  buildCondition('TargetReached', 'NotEvaluated', 'the target does not exist, so it has no pods'),
];

/**
 * Returns `ScalingActive`. It is False if a metric has no value, and the decision is held or no metric proposes a
 * count. The message then contains the failure of the first metric without a value.
 */
export function scalingActive(pick: PickedProposal, { isHeld }: { readonly isHeld: boolean }): Condition {
  const { winner, zero, firstFailing, firstReplaced } = pick;
  const failure = firstFailing?.result.error ?? null;
  if (firstFailing !== null && failure !== null && (isHeld || winner === null))
    return metricFailed(firstFailing.spec, failure);
  if (firstReplaced?.result.fallback !== undefined) {
    const message = `${nameMetric(firstReplaced.spec)} has had ${describeFallback(firstReplaced.result.fallback)}`;
    return buildCondition('ScalingActive', 'FallbackActive', message);
  }
  if (zero?.result.readAsZero !== undefined) return countedAsZero(zero.spec, zero.result.readAsZero);
  return winner === null ? validMetric('a metric has a value') : calculatedFrom(nameMetric(winner.spec));
}

/** Returns the condition for a metric that is read as 0. The message does not claim that the metric has a value. */
function countedAsZero(spec: MetricSpec, failure: Failure): Condition {
  const field = failure.reason === 'nan' ? 'onNaN' : 'onMissing';
  return buildCondition(
    'ScalingActive',
    'ReadAsZero',
    `${nameMetric(spec)}: ${describeZero(failure)} (${field}: zero)`,
  );
}

function validMetric(message: string): Condition {
  return buildCondition('ScalingActive', 'ValidMetricFound', message);
}

/**
 * Returns the condition for a metric name. Scalers whose metrics have the same name share one condition, because their
 * records keep it in memory.
 */
const calculatedFrom = rememberByText((metric) =>
  validMetric(`the replica count was calculated from ${metric}`),
);

const FAILED_REASON: Readonly<Record<MetricType, ReasonOf<'ScalingActive'>>> = {
  Resource: 'FailedGetResourceMetric',
  ContainerResource: 'FailedGetContainerResourceMetric',
  Pods: 'FailedGetPodsMetric',
  Object: 'FailedGetObjectMetric',
  External: 'FailedGetExternalMetric',
};

/** Returns whether `reason` is the reason of `ScalingActive` for a failed metric. */
export function isMetricFailure(reason: string): boolean {
  return Object.values<string>(FAILED_REASON).includes(reason);
}

/**
 * Returns the condition of a failed metric. If the target could not be read, there is no decision, and `failure` is the
 * result of the query (`control/cycle/build-record.ts`).
 */
export function metricFailed(spec: MetricSpec, failure: Failure): Condition {
  const message = `${NOT_CALCULATED}${nameMetric(spec)}: ${describeFailure(failure)}`;
  return buildCondition('ScalingActive', FAILED_REASON[spec.type], message);
}

/** Returns the name of a metric in messages: `Resource metric cpu`. */
export function nameMetric({ type, identity }: MetricSpec): string {
  return `${type} metric ${identity}`;
}

/** Returns the conditions of a decision to which the limits were applied. Source: algorithm.md, step 6. */
export function limitedConditions(
  context: LimitContext,
  limited: LimitedCount,
  pick: PickedProposal,
): readonly Condition[] {
  const active = scalingActive(pick, { isHeld: false });
  // For speed: nearly no decision has a limit.
  if (limited.steps.length === 0) return [READY_FOR_NEW_SCALE, WITHIN_RANGE, active];
  return [ableToScale(context, limited), scalingLimited(context, limited), active];
}

function ableToScale(context: LimitContext, limited: LimitedCount): Condition {
  const { steps } = limited;
  const step = (name: LimitName): LimitStep | undefined => steps.find(({ limit }) => limit === name);
  const window = step('forbidden_window');
  if (window !== undefined) return inBackoff(context, window);
  const isHoldInForce = !isBoundOverHold(steps);
  if (isHoldInForce && step('recovery_hold') !== undefined) {
    return able('RecoveryHold', 'scale-down is held until every metric has returned values for long enough');
  }
  if (isHoldInForce && step('downscale_confirmation') !== undefined) {
    return able(
      'ScaleDownStabilized',
      'scale-down confirmed; using the highest recommendation of the confirming decisions',
    );
  }
  const isStabilized = countAfter('stabilization', context, limited) !== context.recommended;
  if (!isStabilized) return READY_FOR_NEW_SCALE;
  const isUp = context.spec.behavior !== null && context.recommended >= context.current;
  return isUp
    ? able('ScaleUpStabilized', 'recent recommendations were lower than this one; using the lowest')
    : able('ScaleDownStabilized', 'recent recommendations were higher than this one; using the highest');
}

function able(reason: ReasonOf<'AbleToScale'>, message: string): Condition {
  return buildCondition('AbleToScale', reason, message);
}

/** Constants, to save memory: the decisions of all scalers without a limit share these two conditions. */
const READY_FOR_NEW_SCALE = able('ReadyForNewScale', 'no stabilization window changes the recommendation');

const WITHIN_RANGE = limitedBy('DesiredWithinRange', 'the desired count is within the acceptable range');

function inBackoff(context: LimitContext, { from, to, until }: LimitStep): Condition {
  const isUp = from > to;
  const otherWay = isUp ? downscaleForbiddenUntil(context) : upscaleForbiddenUntil(context);
  const oneWay = isUp ? 'BackoffUpscale' : 'BackoffDownscale';
  const end = until === null ? 'later' : `at ${formatInstant(until)}`;
  return able(
    otherWay === null ? oneWay : 'BackoffBoth',
    `the forbidden window after the last change ends ${end}`,
  );
}

/**
 * Returns `ScalingLimited`, which compares the count before the rate limits and bounds with the count after them.
 * Source: algorithm.md, points 28, 34, 35.
 */
function scalingLimited(context: LimitContext, limited: LimitedCount): Condition {
  const stabilized = countAfter('downscale_confirmation', context, limited);
  const bounded = countAfter('max_replicas', context, limited);
  if (bounded === stabilized) return WITHIN_RANGE;
  return bounded > stabilized ? tooLow(context, stabilized, limited) : tooHigh(context, stabilized, limited);
}

/**
 * Returns the condition for a count that was lowered. A limit of scale-ups can be the cause only if the count rises.
 * Otherwise a schedule has lowered `maxReplicas` below the current count.
 */
function tooHigh(context: LimitContext, stabilized: number, limited: LimitedCount): Condition {
  const { current, spec, bounds } = context;
  const isRising = stabilized > current;
  const last = limited.steps.findLast(({ limit }) => limit !== 'forbidden_window');
  if (last?.limit === 'max_replicas_from')
    return limitedBy('TooManyReplicas', `${describeCount(context, stabilized, limited)}, ${last.reason}`);
  const limit = isRising ? capOf(limited, ['policy', 'scale_up_limit']) : null;
  if (limit !== null && spec.maxReplicas > limit)
    return limitedBy('ScaleUpLimit', `the replica count may not rise above ${limited.replicas} now`);
  const bound = describeBound('maxReplicas', spec.maxReplicas, bounds.ceiling);
  return limitedBy('TooManyReplicas', `${describeCount(context, stabilized, limited)}, ${bound}`);
}

function tooLow(context: LimitContext, stabilized: number, limited: LimitedCount): Condition {
  const limit = capOf(limited, ['policy', 'step_limit']);
  return limit !== null && context.spec.minReplicas < limit
    ? limitedBy('ScaleDownLimit', `the replica count may not fall below ${limited.replicas} now`)
    : limitedBy(
        'TooFewReplicas',
        `${describeCount(context, stabilized, limited)}, ${describeFloor(context.bounds)}`,
      );
}

/**
 * Returns the count before the rate limits and bounds, with the limit that determines it: `23 by stabilization (10
 * recommended)`.
 */
function describeCount({ recommended }: LimitContext, stabilized: number, { steps }: LimitedCount): string {
  const by = steps.findLast(({ limit }) => limit === 'stabilization' || isHold({ limit }))?.limit;
  return by === undefined || stabilized === recommended
    ? `${stabilized} recommended`
    : `${stabilized} by ${by} (${recommended} recommended)`;
}

function limitedBy(reason: ReasonOf<'ScalingLimited'>, message: string): Condition {
  return buildCondition('ScalingLimited', reason, message);
}

/** Returns the result of the last of `limits` that changed the count; null: none of them did. */
function capOf({ steps }: LimitedCount, limits: readonly LimitName[]): number | null {
  return steps.findLast(({ limit }) => limits.includes(limit))?.to ?? null;
}
