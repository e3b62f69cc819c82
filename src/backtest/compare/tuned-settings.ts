import type { MetricSpec, Scaler } from '../../scaler/spec.js';
import { formatMilli } from '../../units/quantity.js';
import type { Assignment } from './sweep.js';

/** The settings that `--recommend` changes. */
export interface TunedSettings {
  /** Target of the metric: percent for a utilization, otherwise a multiple of the current target. */
  readonly target: number;
  readonly downSeconds: number;
  readonly upSeconds: number;
  readonly upTolerance: number;
  readonly downTolerance: number;
  /** Largest scale-down per minute in percent; null: the policies of the document. */
  readonly downPercent: number | null;
  /** Largest factor of a scale-up; null: the limit of the document. */
  readonly upFactor: number | null;
  readonly minReplicas: number;
}

const MAX_WINDOW_SECONDS = 3600;

const KEY_OF_TYPE: Readonly<Record<MetricSpec['type'], string>> = {
  Resource: 'resource',
  ContainerResource: 'containerResource',
  Pods: 'pods',
  Object: 'object',
  External: 'external',
};

/** Returns the settings of the document. */
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

/** Returns the fields to change; empty for the settings of the document. */
export function changedFields(
  scaler: Scaler,
  metricIndex: number,
  settings: TunedSettings,
): readonly Assignment[] {
  const { spec } = scaler;
  const metric = spec.metrics[metricIndex];
  if (metric === undefined) return [];
  const present = presentSettings(scaler, metric);
  const changes: Assignment[] = [];
  const change = (isChanged: boolean, field: string, value: Assignment['value']): void => {
    if (isChanged) changes.push({ field, value });
  };
  if (settings.target !== present.target) changes.push(targetField(metric, metricIndex, settings.target));
  changes.push(...toleranceFields(scaler, settings, present));
  change(
    settings.upSeconds !== present.upSeconds,
    'behavior.scaleUp.stabilizationWindowSeconds',
    settings.upSeconds,
  );
  change(settings.minReplicas !== present.minReplicas, 'minReplicas', settings.minReplicas);
  const { downPercent, upFactor } = settings;
  if (downPercent !== null)
    change(true, 'behavior.scaleDown.policies', [{ type: 'Percent', value: downPercent, periodSeconds: 60 }]);
  if (upFactor !== null) {
    const hasBehavior = spec.behavior !== null || changes.some(({ field }) => field.startsWith('behavior.'));
    const percent = Math.round(100 * (upFactor - 1));
    change(!hasBehavior, 'scaleUpLimitFactor', upFactor);
    change(hasBehavior, 'behavior.scaleUp.policies', [
      { type: 'Pods', value: 4, periodSeconds: 15 },
      { type: 'Percent', value: percent, periodSeconds: 15 },
    ]);
  }
  return [...changes, ...windowFields(scaler, settings, changes)];
}

/** Returns the number of settings that differ. A tolerance for both directions counts once. */
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
  { spec }: Scaler,
  { downSeconds }: TunedSettings,
  changes: readonly Assignment[],
): readonly Assignment[] {
  const field = 'behavior.scaleDown.stabilizationWindowSeconds';
  const present = spec.behavior?.scaleDown.stabilizationWindowSeconds ?? spec.downscaleStabilizationSeconds;
  if (spec.behavior === null && changes.some((change) => change.field.startsWith('behavior.')))
    // Without `behavior`, a recommendation that is exactly as old as the window still counts.
    return [{ field, value: Math.min(MAX_WINDOW_SECONDS, downSeconds + spec.syncPeriodSeconds) }];
  if (downSeconds === present) return [];
  // A document without `behavior` keeps its other limits, which `behavior` would replace.
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
  const fieldOf = (name: string): string =>
    `metrics[${metricIndex}].${KEY_OF_TYPE[metric.type]}.target.${name}`;
  if (target.type === 'Utilization') return { field: fieldOf('averageUtilization'), value };
  const milli = (target.milli * BigInt(Math.round(value * 100))) / 100n;
  const name = target.type === 'Value' ? 'value' : 'averageValue';
  return { field: fieldOf(name), value: formatMilli(milli > 0n ? milli : 1n) };
}
