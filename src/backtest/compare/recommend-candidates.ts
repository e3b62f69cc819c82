import { MEMBER_OF_TARGET, MEMBER_OF_TYPE } from '../../scaler/resolve/metric-form.js';
import type { MetricSpec, Scaler } from '../../scaler/spec.js';
import { formatMilli } from '../../units/quantity.js';
import type { Assignment } from './sweep.js';

/**
 * Target utilizations that are tried. High values have small steps, because each percent matters there. Low values are
 * included because usage cannot exceed 100 %: only a low target shows a fast rise early.
 */
const PERCENT = [50, 60, 70, 75, 80, 82, 84, 86, 88, 90, 92] as const;
const FACTORS = [0.6, 0.75, 0.85, 0.95, 1, 1.05, 1.1, 1.2, 1.35] as const;
const LOWEST_PERCENT = 20;
/** Highest target that is tried. With a higher target, the usage of a pod would not show how much load waits. */
const HIGHEST_PERCENT = 95;
const DOWN_SECONDS = [60, 120, 180, 240, 450] as const;
const DOWN_FACTORS = [0.5, 0.8, 0.9, 1.1, 1.25] as const;
const TOLERANCES = [0.01, 0.02, 0.05, 0.1] as const;
const DOWN_TOLERANCES = [0.01, 0.02, 0.05, 0.1, 0.2] as const;
const DOWN_PERCENTS = [null, 50, 20, 10] as const;
const MIN_REPLICAS_FACTORS = [1.5, 2, 3, 5] as const;

interface Bounds {
  readonly metric: MetricSpec;
  /**
   * Whether to try a higher minReplicas, which costs pods at all times. True only if the document misses a condition.
   */
  readonly mayRaiseMinimum: boolean;
  readonly maxReplicas: number;
}

/**
 * Returns the first candidates. Each candidate changes one field, or two fields that compensate each other: the target,
 * and the tolerances or the stabilization of scale-downs. One of the two fields can then save the pods that the other
 * field needs.
 */
export function firstSettings(present: TunedSettings, bounds: Bounds): readonly TunedSettings[] {
  const targets =
    bounds.metric.target.type === 'Utilization'
      ? [...PERCENT, ...[-5, 2, 4].map((step) => present.target + step)].filter(isPercent)
      : FACTORS;
  const pairs = [present.target, ...targets].flatMap((target) =>
    [null, ...TOLERANCES].map((tolerance) => ({ ...present, target, ...bothTolerances(tolerance) })),
  );
  const windows = [present.target, ...targets].flatMap((target) =>
    DOWN_SECONDS.map((downSeconds) => ({ ...present, target, downSeconds })),
  );
  return unique([...pairs, ...windows, ...neighbours(present, bounds)], present);
}

/** Returns settings in which only the tolerance of scale-downs is smaller, so that no scale-up is delayed. */
export function carefulSettings(present: TunedSettings): readonly TunedSettings[] {
  return DOWN_TOLERANCES.filter((tolerance) => tolerance < present.downTolerance).map((downTolerance) => ({
    ...present,
    downTolerance,
  }));
}

/** Returns candidates that are one step away from these settings. */
export function neighbours(settings: TunedSettings, bounds: Bounds): readonly TunedSettings[] {
  const { target, downSeconds, upTolerance, downTolerance, minReplicas } = settings;
  const { metric, mayRaiseMinimum, maxReplicas } = bounds;
  const isUtilization = metric.target.type === 'Utilization';
  const targets = isUtilization
    ? [-2, -1, 1, 2].map((step) => target + step).filter(isPercent)
    : [-0.03, 0.03].map((step) => Number((target + step).toFixed(2)));
  const near: TunedSettings[] = [
    ...targets.map((value) => ({ ...settings, target: value })),
    ...DOWN_FACTORS.map((factor) => ({ ...settings, downSeconds: windowOf(factor * downSeconds) })),
    ...TOLERANCES.map((value) => ({ ...settings, upTolerance: value })),
    ...DOWN_TOLERANCES.map((value) => ({ ...settings, downTolerance: value })),
    ...DOWN_PERCENTS.map((value) => ({ ...settings, downPercent: value })),
    ...[null, 4, 10].map((value) => ({ ...settings, upFactor: value })),
    ...[0, 30, 60].map((value) => ({ ...settings, upSeconds: value })),
    // A slow scale-down needs more pod-hours, which a shorter window compensates.
    ...[50, 20, 10].map((value) => ({
      ...settings,
      downPercent: value,
      downSeconds: windowOf(0.6 * downSeconds),
    })),
    // A higher target is combined with a smaller tolerance, so that scale-ups begin at the same utilization.
    ...(isUtilization && isPercent(target + 4)
      ? [
          {
            ...settings,
            target: target + 4,
            upTolerance: Math.max(0.01, upTolerance - 0.05),
            downTolerance: Math.max(0.01, downTolerance - 0.05),
          },
        ]
      : []),
    ...(mayRaiseMinimum
      ? MIN_REPLICAS_FACTORS.map((factor) => ({
          ...settings,
          minReplicas: Math.min(maxReplicas, Math.max(minReplicas + 1, Math.round(factor * minReplicas))),
        }))
      : []),
  ];
  return unique(near, settings);
}

function bothTolerances(tolerance: number | null): Partial<TunedSettings> {
  return tolerance === null ? {} : { upTolerance: tolerance, downTolerance: tolerance };
}

/** Rounds to a multiple of the default sync period. */
function windowOf(seconds: number): number {
  return Math.max(0, Math.round(seconds / 15) * 15);
}

function unique(all: readonly TunedSettings[], without: TunedSettings): readonly TunedSettings[] {
  const byText = new Map(all.map((settings) => [JSON.stringify(settings), settings]));
  byText.delete(JSON.stringify(without));
  return [...byText.values()];
}

function isPercent(value: number): boolean {
  return value >= LOWEST_PERCENT && value <= HIGHEST_PERCENT;
}

/** The settings that `--recommend` changes. */
export interface TunedSettings {
  /** The target of the metric: in percent for a utilization, otherwise as a multiple of the current target. */
  readonly target: number;
  readonly downSeconds: number;
  readonly upSeconds: number;
  readonly upTolerance: number;
  readonly downTolerance: number;
  /** The largest scale-down in a minute in percent; null: the policies of the document apply. */
  readonly downPercent: number | null;
  /** The largest factor of a scale-up; null: the limit of the document applies. */
  readonly upFactor: number | null;
  readonly minReplicas: number;
}

const MAX_WINDOW_SECONDS = 3600;

export function presentSettings({ spec }: Scaler, metric: MetricSpec): TunedSettings {
  const { behavior, tolerance, downscaleStabilizationSeconds, minReplicas } = spec;
  return {
    target: metric.target.type === 'Utilization' ? metric.target.percent : 1,
    downSeconds: behavior?.scaleDown.stabilizationWindowSeconds ?? downscaleStabilizationSeconds,
    upSeconds: behavior?.scaleUp.stabilizationWindowSeconds ?? 0,
    upTolerance: behavior?.scaleUp.tolerance ?? tolerance,
    downTolerance: behavior?.scaleDown.tolerance ?? tolerance,
    downPercent: null,
    upFactor: null,
    minReplicas,
  };
}

/** Returns the fields in which the document differs from these settings, with the new values. */
export function changedFields(
  scaler: Scaler,
  metricIndex: number,
  settings: TunedSettings,
): readonly Assignment[] {
  const { spec } = scaler;
  const metric = spec.metrics[metricIndex];
  if (metric === undefined) return [];
  const present = presentSettings(scaler, metric);
  const { target, upSeconds, minReplicas, downPercent, upFactor } = settings;
  const changes: Assignment[] = [];
  const change = (field: string, value: Assignment['value']): void => void changes.push({ field, value });
  if (target !== present.target) changes.push(targetField(metric, metricIndex, target));
  changes.push(...toleranceFields(scaler, settings, present));
  if (upSeconds !== present.upSeconds) change('behavior.scaleUp.stabilizationWindowSeconds', upSeconds);
  if (minReplicas !== present.minReplicas) change('minReplicas', minReplicas);
  if (downPercent !== null)
    change('behavior.scaleDown.policies', [{ type: 'Percent', value: downPercent, periodSeconds: 60 }]);
  const hasBehavior = (): boolean =>
    spec.behavior !== null || changes.some(({ field }) => field.startsWith('behavior.'));
  if (upFactor !== null && hasBehavior())
    change('behavior.scaleUp.policies', [
      { type: 'Pods', value: 4, periodSeconds: 15 },
      { type: 'Percent', value: Math.round(100 * (upFactor - 1)), periodSeconds: 15 },
    ]);
  else if (upFactor !== null) change('scaleUpLimitFactor', upFactor);
  return [
    ...changes,
    ...windowFields(settings, present, { spec, addsBehavior: spec.behavior === null && hasBehavior() }),
  ];
}

/** Returns how many settings differ. If both tolerances are changed to the same value, they count as one. */
export function countChanges(settings: TunedSettings, present: TunedSettings): number {
  const { upTolerance, downTolerance, ...others } = settings;
  const isUpChanged = upTolerance !== present.upTolerance;
  const isDownChanged = downTolerance !== present.downTolerance;
  const tolerances = isUpChanged && isDownChanged && upTolerance !== downTolerance ? 2 : 1;
  const before = new Map<string, unknown>(Object.entries(present));
  const changed = Object.entries(others).filter(([key, value]) => value !== before.get(key)).length;
  return changed + (isUpChanged || isDownChanged ? tolerances : 0);
}

function windowFields(
  { downSeconds }: TunedSettings,
  present: TunedSettings,
  { spec, addsBehavior }: { readonly spec: Scaler['spec']; readonly addsBehavior: boolean },
): readonly Assignment[] {
  const field = 'behavior.scaleDown.stabilizationWindowSeconds';
  if (addsBehavior)
    // Without `behavior`, a recommendation that is exactly as old as the window still counts. So the window in
    // `behavior` must be one period longer to be equivalent.
    return [{ field, value: Math.min(MAX_WINDOW_SECONDS, downSeconds + spec.syncPeriodSeconds) }];
  if (downSeconds === present.downSeconds) return [];
  // Without `behavior`, another field is used, because adding `behavior` would replace other limits of the document.
  return [{ field: spec.behavior === null ? 'downscaleStabilizationSeconds' : field, value: downSeconds }];
}

function toleranceFields(
  { spec }: Scaler,
  { upTolerance, downTolerance }: TunedSettings,
  present: TunedSettings,
): readonly Assignment[] {
  const isUpChanged = upTolerance !== present.upTolerance;
  const isDownChanged = downTolerance !== present.downTolerance;
  if (spec.behavior === null && isUpChanged && upTolerance === downTolerance)
    return [{ field: 'tolerance', value: upTolerance }];
  return [
    ...(isUpChanged ? [{ field: 'behavior.scaleUp.tolerance', value: upTolerance }] : []),
    ...(isDownChanged ? [{ field: 'behavior.scaleDown.tolerance', value: downTolerance }] : []),
  ];
}

function targetField(metric: MetricSpec, metricIndex: number, value: number): Assignment {
  const { target } = metric;
  const member = MEMBER_OF_TYPE[metric.type];
  const field = `metrics[${metricIndex}].${member}.target.${MEMBER_OF_TARGET[target.type]}`;
  if (target.type === 'Utilization') return { field, value };
  const milli = (target.milli * BigInt(Math.round(value * 100))) / 100n;
  return { field, value: formatMilli(milli > 0n ? milli : 1n) };
}
