import { toleranceNumber } from '../../units/quantity.js';
import { parseDuration } from '../../units/time.js';
import { BUILT_IN, DEFAULT_POLICIES, PRESETS, type PresetValues } from '../schema/presets.js';
import { defaultMetric, resolveMetric, resolveReference } from './resolve-metric.js';
import type { ScalingRulesInput } from '../schema/behavior-schema.js';
import type { SpecInput } from '../schema/document-schema.js';
import {
  type Behavior,
  type DownscaleConfirmation,
  type Fallback,
  type Forecast,
  isOfResource,
  type MaxReplicasFrom,
  type MetricSpec,
  type PodDeletionCost,
  type ScalerSpec,
  type ScaleUpLimit,
  type ScalingRules,
} from '../spec.js';
import { parseRange } from '../../schedules/local-time.js';
import type { Schedule } from '../../schedules/schedule.js';
import type { ScheduleInput } from '../schema/schedule-schema.js';

/**
 * Expands short forms, sets defaults and converts quantities to milli-units. The input must have passed the schema and
 * `checkMetricForm`; otherwise throws `Error`.
 */
export function resolveSpec(input: SpecInput): ScalerSpec {
  const preset = input.preset ?? BUILT_IN.preset;
  const values = PRESETS[preset];
  const tolerance = toleranceNumber(input.tolerance) ?? BUILT_IN.tolerance;
  const downscaleStabilizationSeconds =
    input.downscaleStabilizationSeconds ?? values.downscaleStabilizationSeconds;
  const given = input.metrics ?? [];
  const metrics = given.length === 0 ? [defaultMetric()] : given.map(resolveMetric);
  return {
    preset,
    scaleTargetRef: resolveReference(input.scaleTargetRef),
    minReplicas: input.minReplicas ?? BUILT_IN.minReplicas,
    maxReplicas: input.maxReplicas,
    maxReplicasFrom: resolveMaxReplicasFrom(input),
    metrics,
    behavior: resolveBehavior(input.behavior, { tolerance, downscaleStabilizationSeconds }),
    tolerance,
    scaleUpLimit: resolveScaleUpLimit(input, values),
    upscaleForbiddenWindowSeconds:
      input.upscaleForbiddenWindowSeconds ?? values.upscaleForbiddenWindowSeconds,
    downscaleForbiddenWindowSeconds:
      input.downscaleForbiddenWindowSeconds ?? values.downscaleForbiddenWindowSeconds,
    forbiddenWindowsSince: input.forbiddenWindowsSince ?? values.forbiddenWindowsSince,
    cpuInitializationPeriodSeconds:
      input.cpuInitializationPeriodSeconds ?? BUILT_IN.cpuInitializationPeriodSeconds,
    initialReadinessDelaySeconds: input.initialReadinessDelaySeconds ?? BUILT_IN.initialReadinessDelaySeconds,
    downscaleStabilizationSeconds,
    cooldownSeconds: input.cooldownSeconds ?? BUILT_IN.cooldownSeconds,
    downscaleConfirmation: resolveConfirmation(input.downscaleConfirmation),
    maxScaleDownPercentPerWindow: input.maxScaleDownPercentPerWindow ?? null,
    podStart: input.podStart === undefined ? null : { seconds: input.podStart.seconds ?? null },
    forecast: resolveForecast(input, metrics),
    podWarmupSeconds: input.podWarmupSeconds ?? BUILT_IN.podWarmupSeconds,
    syncPeriodSeconds: input.syncPeriodSeconds ?? BUILT_IN.syncPeriodSeconds,
    dryRun: input.dryRun ?? BUILT_IN.dryRun,
    paused: input.paused ?? BUILT_IN.paused,
    fallback: resolveFallback(input),
    schedules: (input.schedules ?? []).map(resolveSchedule),
    podDeletionCost: resolveDeletionCost(input),
  };
}

function resolveMaxReplicasFrom({ maxReplicasFrom }: SpecInput): MaxReplicasFrom | null {
  const { query, source = BUILT_IN.source } = maxReplicasFrom ?? {};
  return query === undefined ? null : { query, source };
}

function resolveFallback({ fallback }: SpecInput): Fallback | null {
  const { afterSeconds, replicas, mode = BUILT_IN.fallbackMode } = fallback ?? {};
  return afterSeconds === undefined || replicas === undefined ? null : { afterSeconds, replicas, mode };
}

function resolveForecast({ forecast }: SpecInput, metrics: readonly MetricSpec[]): Forecast | null {
  if (forecast === undefined) return null;
  const { metric, lookback = BUILT_IN.forecastLookback, lead = BUILT_IN.forecastLead } = forecast;
  return {
    metric: metrics.findIndex((spec) => hasTotalLoad(spec) && (metric ?? spec.identity) === spec.identity),
    mode: forecast.mode ?? BUILT_IN.forecastMode,
    lookbackDays: parseInt(lookback, 10),
    quantile: forecast.quantile ?? BUILT_IN.forecastQuantile,
    fillPercent: forecast.fillPercent ?? BUILT_IN.forecastFillPercent,
    leadSeconds: lead === 'auto' ? null : parseDuration(lead),
    timeZone: forecast.timeZone ?? BUILT_IN.timeZone,
    budgetPercent: forecast.budgetPercent ?? BUILT_IN.forecastBudgetPercent,
  };
}

/** Returns whether the values of a metric add up to the load of the workload, independent of the number of replicas. */
function hasTotalLoad(metric: MetricSpec): boolean {
  return metric.target.type !== 'Value' && (!isOfResource(metric) || metric.name === 'cpu');
}

function resolveDeletionCost({ podDeletionCost }: SpecInput): PodDeletionCost | null {
  const { query, order = BUILT_IN.deletionOrder, source = BUILT_IN.source } = podDeletionCost ?? {};
  return query === undefined ? null : { query, order, source };
}

function resolveConfirmation(input: SpecInput['downscaleConfirmation']): DownscaleConfirmation | null {
  if (input === undefined) return null;
  const { seconds = BUILT_IN.confirmationSeconds, decisions = BUILT_IN.confirmationDecisions } = input;
  return { seconds, decisions };
}

function resolveScaleUpLimit(input: SpecInput, values: PresetValues): ScaleUpLimit {
  const factor = input.scaleUpLimitFactor ?? values.scaleUpLimitFactor;
  const minimum = input.scaleUpLimitMinimum ?? values.scaleUpLimitMinimum;
  return {
    factor: factor ?? BUILT_IN.scaleUpLimitFactor,
    minimum: minimum ?? BUILT_IN.scaleUpLimitMinimum,
    isExplicit: factor !== null || minimum !== null,
  };
}

type ScalerWide = Pick<ScalerSpec, 'tolerance' | 'downscaleStabilizationSeconds'>;

function resolveBehavior(input: SpecInput['behavior'], scalerWide: ScalerWide): Behavior | null {
  if (input === undefined) return null;
  const { tolerance, downscaleStabilizationSeconds } = scalerWide;
  return {
    scaleUp: resolveRules(input.scaleUp ?? {}, {
      stabilizationWindowSeconds: BUILT_IN.scaleUpStabilizationWindowSeconds,
      selectPolicy: BUILT_IN.selectPolicy,
      policies: DEFAULT_POLICIES.scaleUp,
      tolerance,
    }),
    scaleDown: resolveRules(input.scaleDown ?? {}, {
      stabilizationWindowSeconds: downscaleStabilizationSeconds,
      selectPolicy: BUILT_IN.selectPolicy,
      policies: DEFAULT_POLICIES.scaleDown,
      tolerance,
    }),
  };
}

function resolveRules(input: ScalingRulesInput, defaults: ScalingRules): ScalingRules {
  return {
    stabilizationWindowSeconds: input.stabilizationWindowSeconds ?? defaults.stabilizationWindowSeconds,
    selectPolicy: input.selectPolicy ?? defaults.selectPolicy,
    policies: input.policies ?? defaults.policies,
    tolerance: toleranceNumber(input.tolerance) ?? defaults.tolerance,
  };
}

/** Returns a schedule with defaults. The input must have passed the rules; throws `Error` for an invalid date. */
function resolveSchedule(input: ScheduleInput): Schedule {
  const { name, start, end, timeZone = BUILT_IN.timeZone } = input;
  return {
    name,
    recurring: start === undefined || end === undefined ? null : { start, end },
    timeZone,
    minReplicas: input.minReplicas ?? null,
    maxReplicas: input.maxReplicas ?? null,
    rampSeconds: input.rampSeconds ?? BUILT_IN.rampSeconds,
    exceptions: input.exceptions ?? [],
    dates: (input.dates ?? []).map((range) => {
      const occurrence = parseRange(range.start, range.end, timeZone);
      if (occurrence === null)
        throw new Error(`schedule ${name}: ${range.start} to ${range.end} is not a range`);
      return occurrence;
    }),
  };
}
