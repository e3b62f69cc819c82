import type { Path } from '../../scaler/problems/finding.js';
import { PRESETS } from '../../scaler/schema/presets.js';
import type { Scaler, ScalerSpec, ScalingRules } from '../../scaler/spec.js';
import { metricRows, referenceRows } from './metric-rows.js';
import { type Row, type Written, rowBy, rowOf, rowsIn, unsetRow, writtenIn } from './row.js';

const DOWNSCALE_WINDOW: Path = ['spec', 'behavior', 'scaleDown', 'stabilizationWindowSeconds'];

/** Returns a row for each field, in the order of docs/reference/scaler.md. */
export function scalerRows(scaler: Scaler, raw: unknown): readonly Row[] {
  const { spec, document } = scaler;
  const written: Written = { raw, merged: document };
  const field = (name: keyof ScalerSpec): readonly Row[] => [
    rowOf(written, ['spec', name], spec[name], presetOrigin(written, spec, name)),
  ];
  const rows: Readonly<Record<keyof ScalerSpec, readonly Row[]>> = {
    preset: field('preset'),
    scaleTargetRef: referenceRows(written, ['spec', 'scaleTargetRef'], spec.scaleTargetRef),
    minReplicas: field('minReplicas').map((row) => replacedBySchedule(row, spec, 'minReplicas')),
    maxReplicas: field('maxReplicas').map((row) => replacedBySchedule(row, spec, 'maxReplicas')),
    maxReplicasFrom: objectRows(written, 'maxReplicasFrom', spec),
    metrics: spec.metrics.flatMap((metric, index) => metricRows(written, ['spec', 'metrics', index], metric)),
    behavior: behaviorRows(written, spec),
    tolerance: field('tolerance').map((row) => replacedTolerance(row, written)),
    scaleUpLimit: [limitRow(written, spec, 'factor'), limitRow(written, spec, 'minimum')],
    upscaleForbiddenWindowSeconds: field('upscaleForbiddenWindowSeconds'),
    downscaleForbiddenWindowSeconds: field('downscaleForbiddenWindowSeconds'),
    forbiddenWindowsSince: field('forbiddenWindowsSince'),
    cpuInitializationPeriodSeconds: field('cpuInitializationPeriodSeconds'),
    initialReadinessDelaySeconds: field('initialReadinessDelaySeconds'),
    downscaleStabilizationSeconds: field('downscaleStabilizationSeconds').map((row) => ({
      ...row,
      ...(writtenIn(written, DOWNSCALE_WINDOW) === null ? {} : { replacedBy: DOWNSCALE_WINDOW }),
    })),
    downscaleConfirmation:
      spec.downscaleConfirmation === null
        ? [optionalRow(written, 'downscaleConfirmation', null)]
        : objectRows(written, 'downscaleConfirmation', spec),
    maxScaleDownPercentPerWindow: [
      optionalRow(written, 'maxScaleDownPercentPerWindow', spec.maxScaleDownPercentPerWindow),
    ],
    podStart: podStartRows(written, spec),
    forecast: forecastRows(written, spec),
    podWarmupSeconds: field('podWarmupSeconds'),
    syncPeriodSeconds: field('syncPeriodSeconds'),
    cooldownSeconds: field('cooldownSeconds'),
    dryRun: field('dryRun'),
    paused: field('paused'),
    fallback: objectRows(written, 'fallback', spec),
    schedules: scheduleRows(written, spec),
    podDeletionCost: objectRows(written, 'podDeletionCost', spec),
  };
  const head = ['apiVersion', 'kind', 'metadata'].flatMap((name) => rowsIn(written, [name]));
  return [...head, ...Object.values(rows).flat()];
}

function replacedBySchedule(row: Row, { schedules }: ScalerSpec, bound: 'minReplicas' | 'maxReplicas'): Row {
  const index = schedules.findIndex((schedule) => schedule[bound] !== null);
  if (index < 0) return row;
  return { ...row, replacedBy: ['spec', 'schedules', index, bound], replacedWhen: 'while it is active' };
}

function replacedTolerance(row: Row, written: Written): Row {
  const [up, down] = (['scaleUp', 'scaleDown'] as const).map((direction) => {
    const path = ['spec', 'behavior', direction, 'tolerance'];
    return writtenIn(written, path) === null ? null : path;
  });
  if (up != null && down != null) return { ...row, replacedBy: ['spec', 'behavior'] };
  if (up != null) return { ...row, replacedBy: up, replacedWhen: 'for scale-ups' };
  return down == null ? row : { ...row, replacedBy: down, replacedWhen: 'for scale-downs' };
}

/** Returns the rows of an object in `spec` that is null unless the document sets it. */
function objectRows(
  written: Written,
  name: 'maxReplicasFrom' | 'fallback' | 'podDeletionCost' | 'downscaleConfirmation',
  spec: ScalerSpec,
): readonly Row[] {
  const path = ['spec', name];
  const object = spec[name];
  if (object === null) return [rowOf(written, path, {})];
  return Object.entries(object).map(([field, value]) => rowOf(written, [...path, field], value));
}

function scheduleRows(written: Written, { schedules }: ScalerSpec): readonly Row[] {
  return schedules.flatMap(({ timeZone, rampSeconds }, index) => {
    const path = ['spec', 'schedules', index];
    const defaults = Object.entries({ timeZone, rampSeconds })
      .filter(([name]) => writtenIn(written, [...path, name]) === null)
      .map(([name, value]) => rowOf(written, [...path, name], value));
    return [...rowsIn(written, path), ...defaults];
  });
}

function optionalRow(written: Written, name: keyof ScalerSpec, value: number | null): Row {
  return { ...rowOf(written, ['spec', name], value), isUnset: value === null };
}

function podStartRows(written: Written, { podStart }: ScalerSpec): readonly Row[] {
  if (podStart === null) return [optionalRow(written, 'podStart', null)];
  const path = ['spec', 'podStart', 'seconds'];
  return [rowOf(written, path, podStart.seconds ?? 'learned from the pods')];
}

function forecastRows(written: Written, { forecast, metrics }: ScalerSpec): readonly Row[] {
  if (forecast === null) return [optionalRow(written, 'forecast', null)];
  const { metric, lookbackDays, leadSeconds, ...rest } = forecast;
  const values = {
    metric: metrics[metric]?.identity ?? null,
    lookback: `${lookbackDays}d`,
    lead: leadSeconds === null ? 'auto' : `${leadSeconds}s`,
    ...rest,
  };
  const target = metrics[metric]?.target;
  const isFilled =
    target === undefined || (target.type === 'Utilization' && target.percent < rest.fillPercent);
  return Object.entries(values).map(([name, value]) => ({
    ...rowOf(written, ['spec', 'forecast', name], value),
    // fillPercent only has an effect if it is above a utilization target. Otherwise, pods are planned at the target.
    ...(name === 'fillPercent' && !isFilled ? { replacedBy: ['spec', 'metrics', metric] } : {}),
  }));
}

function presetOrigin(written: Written, { preset }: ScalerSpec, name: string): string {
  const values: Readonly<Record<string, unknown>> = { ...PRESETS[preset] };
  const isOfPreset = (values[name] ?? null) !== null && writtenIn(written, ['spec', 'preset']) !== null;
  return isOfPreset ? `preset ${preset}` : 'built in';
}

/**
 * Returns the row of a field of the scale-up limit. If neither document nor preset sets the field, the limit of the HPA
 * is the default, but `behavior` replaces it. A field that is set applies in addition to `behavior`.
 */
function limitRow(written: Written, spec: ScalerSpec, part: 'factor' | 'minimum'): Row {
  const name = part === 'factor' ? 'scaleUpLimitFactor' : 'scaleUpLimitMinimum';
  const { isExplicit, [part]: value } = spec.scaleUpLimit;
  const path = ['spec', name];
  if (isExplicit) return rowOf(written, path, value, presetOrigin(written, spec, name));
  const isReplaced = spec.behavior !== null;
  const by = isReplaced ? ['spec', 'behavior'] : null;
  return { path, value: isReplaced ? null : value, from: 'built in', by, isUnset: true };
}

function behaviorRows(written: Written, spec: ScalerSpec): readonly Row[] {
  const { behavior } = spec;
  if (behavior === null) return [unsetRow(['spec', 'behavior'])];
  return (['scaleUp', 'scaleDown'] as const).flatMap((direction) =>
    rulesRows(written, spec, { direction, rules: behavior[direction] }),
  );
}

function rulesRows(
  written: Written,
  spec: ScalerSpec,
  { direction, rules }: { readonly direction: 'scaleUp' | 'scaleDown'; readonly rules: ScalingRules },
): readonly Row[] {
  const path = ['spec', 'behavior', direction];
  const inherit = (name: 'tolerance' | 'stabilizationWindowSeconds', field: keyof ScalerSpec): Row => {
    const by = ['spec', field];
    const { from } = rowOf(written, by, spec[field], presetOrigin(written, spec, field));
    return rowBy(written, [...path, name], { value: rules[name], from, by });
  };
  const window = [...path, 'stabilizationWindowSeconds'];
  const policies = rowsIn(written, [...path, 'policies']);
  const isDisabled = rules.selectPolicy === 'Disabled';
  const replaced = isDisabled ? { replacedBy: [...path, 'selectPolicy'] } : {};
  return [
    direction === 'scaleUp'
      ? rowOf(written, window, rules.stabilizationWindowSeconds)
      : inherit('stabilizationWindowSeconds', 'downscaleStabilizationSeconds'),
    rowOf(written, [...path, 'selectPolicy'], rules.selectPolicy),
    ...(policies.length > 0 ? policies : builtInPolicies([...path, 'policies'], rules)).map((row) => ({
      ...row,
      ...replaced,
    })),
    inherit('tolerance', 'tolerance'),
  ];
}

function builtInPolicies(path: Path, { policies }: ScalingRules): readonly Row[] {
  return policies.flatMap(({ type, value, periodSeconds }, index) =>
    Object.entries({ type, value, periodSeconds }).map(([name, part]): Row => ({
      path: [...path, index, name],
      value: part,
      from: 'built in',
      by: null,
      isUnset: false,
    })),
  );
}
