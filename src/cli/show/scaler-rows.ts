import type { Path } from '../../scaler/problems/finding.js';
import { PRESETS } from '../../scaler/schema/presets.js';
import type { Scaler, ScalerSpec, ScalingRules } from '../../scaler/spec.js';
import { metricRows, referenceRows } from './metric-rows.js';
import { type Row, type Written, rowBy, rowOf, rowsIn, writtenIn } from './row.js';

/** Fields after `scaleUpLimit...`, in the order of docs/reference/scaler.md. */
const LIMIT_FIELDS = [
  'upscaleForbiddenWindowSeconds',
  'downscaleForbiddenWindowSeconds',
  'forbiddenWindowsSince',
  'cpuInitializationPeriodSeconds',
  'initialReadinessDelaySeconds',
  'downscaleStabilizationSeconds',
] as const satisfies readonly (keyof ScalerSpec)[];
const LAST_FIELDS = [
  'podWarmupSeconds',
  'syncPeriodSeconds',
  'cooldownSeconds',
  'dryRun',
  'paused',
] as const satisfies readonly (keyof ScalerSpec)[];

/** Returns the rows in the order of docs/reference/scaler.md. */
export function scalerRows(scaler: Scaler, raw: unknown): readonly Row[] {
  const { spec, document } = scaler;
  const written: Written = { raw, merged: document };
  const field = (name: keyof ScalerSpec): Row =>
    rowOf(written, ['spec', name], { value: spec[name], from: presetOrigin(written, spec, name) });
  return [
    ...['apiVersion', 'kind', 'metadata'].flatMap((name) => rowsIn(written, [name])),
    field('preset'),
    ...referenceRows(written, ['spec', 'scaleTargetRef'], spec.scaleTargetRef),
    field('minReplicas'),
    field('maxReplicas'),
    ...objectRows(written, 'maxReplicasFrom', spec),
    ...spec.metrics.flatMap((metric, index) => metricRows(written, ['spec', 'metrics', index], metric)),
    ...behaviorRows(written, spec),
    field('tolerance'),
    limitRow(written, spec, 'factor'),
    limitRow(written, spec, 'minimum'),
    ...LIMIT_FIELDS.map(field),
    ...confirmationRows(written, spec),
    optionalRow(written, 'maxScaleDownPercentPerWindow', spec.maxScaleDownPercentPerWindow),
    ...podStartRows(written, spec),
    ...LAST_FIELDS.map(field),
    ...objectRows(written, 'fallback', spec),
    ...scheduleRows(written, spec),
    ...objectRows(written, 'podDeletionCost', spec),
  ];
}

/** Returns the rows of an object that is null unless the document sets it. */
function objectRows(
  written: Written,
  name: 'maxReplicasFrom' | 'fallback' | 'podDeletionCost',
  spec: ScalerSpec,
): readonly Row[] {
  const path = ['spec', name];
  const object = spec[name];
  if (object === null) return [rowOf(written, path, { value: {} })];
  return Object.entries(object).map(([field, value]) => rowOf(written, [...path, field], { value }));
}

function scheduleRows(written: Written, { schedules }: ScalerSpec): readonly Row[] {
  return schedules.flatMap(({ timeZone, rampSeconds }, index) => {
    const path = ['spec', 'schedules', index];
    const defaults = Object.entries({ timeZone, rampSeconds })
      .filter(([name]) => writtenIn(written, [...path, name]) === null)
      .map(([name, value]) => rowOf(written, [...path, name], { value }));
    return [...rowsIn(written, path), ...defaults];
  });
}

function optionalRow(written: Written, name: keyof ScalerSpec, value: number | null): Row {
  return { ...rowOf(written, ['spec', name], { value }), isUnset: value === null };
}

function confirmationRows(written: Written, { downscaleConfirmation }: ScalerSpec): readonly Row[] {
  const path = ['spec', 'downscaleConfirmation'];
  if (downscaleConfirmation === null) return [optionalRow(written, 'downscaleConfirmation', null)];
  return Object.entries(downscaleConfirmation).map(([name, value]) =>
    rowOf(written, [...path, name], { value }),
  );
}

function podStartRows(written: Written, { podStart }: ScalerSpec): readonly Row[] {
  if (podStart === null) return [optionalRow(written, 'podStart', null)];
  const path = ['spec', 'podStart', 'seconds'];
  return [rowOf(written, path, { value: podStart.seconds ?? 'learned from the pods' })];
}

function presetOrigin(written: Written, { preset }: ScalerSpec, name: string): string {
  const values: Readonly<Record<string, unknown>> = { ...PRESETS[preset] };
  const isOfPreset = (values[name] ?? null) !== null && writtenIn(written, ['spec', 'preset']) !== null;
  return isOfPreset ? `preset ${preset}` : 'built in';
}

/**
 * The limit of the HPA applies if neither document nor preset sets the field; `behavior` replaces it. A value in the
 * document applies in addition to `behavior`.
 */
function limitRow(written: Written, spec: ScalerSpec, part: 'factor' | 'minimum'): Row {
  const name = part === 'factor' ? 'scaleUpLimitFactor' : 'scaleUpLimitMinimum';
  const { isExplicit, [part]: value } = spec.scaleUpLimit;
  const path = ['spec', name];
  if (isExplicit) return rowOf(written, path, { value, from: presetOrigin(written, spec, name) });
  const isReplaced = spec.behavior !== null;
  const by = isReplaced ? ['spec', 'behavior'] : null;
  return { path, value: isReplaced ? null : value, from: 'built in', by, isUnset: true };
}

function behaviorRows(written: Written, spec: ScalerSpec): readonly Row[] {
  const path = ['spec', 'behavior'];
  const { behavior } = spec;
  if (behavior === null) return [{ path, value: null, from: 'built in', by: null, isUnset: true }];
  const scalerWide = { field: 'downscaleStabilizationSeconds' } as const;
  return [
    ...rulesRows(written, [...path, 'scaleUp'], { rules: behavior.scaleUp, spec, scalerWide: null }),
    ...rulesRows(written, [...path, 'scaleDown'], { rules: behavior.scaleDown, spec, scalerWide }),
  ];
}

interface RulesOfSpec {
  readonly rules: ScalingRules;
  readonly spec: ScalerSpec;
  /** The field of `spec` that is the default of `stabilizationWindowSeconds`; null: none. */
  readonly scalerWide: { readonly field: keyof ScalerSpec } | null;
}

function rulesRows(written: Written, path: Path, { rules, spec, scalerWide }: RulesOfSpec): readonly Row[] {
  const inherit = (name: 'tolerance' | 'stabilizationWindowSeconds', field: keyof ScalerSpec): Row => {
    const by = ['spec', field];
    const value = spec[field];
    const { from } = rowOf(written, by, { value, from: presetOrigin(written, spec, field) });
    return rowBy(written, [...path, name], { value: rules[name], from, by });
  };
  const window = [...path, 'stabilizationWindowSeconds'];
  const policies = rowsIn(written, [...path, 'policies']);
  return [
    scalerWide === null
      ? rowOf(written, window, { value: rules.stabilizationWindowSeconds })
      : inherit('stabilizationWindowSeconds', scalerWide.field),
    rowOf(written, [...path, 'selectPolicy'], { value: rules.selectPolicy }),
    ...(policies.length > 0 ? policies : builtInPolicies([...path, 'policies'], rules)),
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
