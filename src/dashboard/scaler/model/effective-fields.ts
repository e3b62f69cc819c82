import { isPlainObject, type PlainObject } from '../../../scaler/plain-json.js';
import type { SpecInput } from '../../../scaler/schema/document-schema.js';
import { BUILT_IN, PRESETS } from '../../../scaler/schema/presets.js';
import type { PresetValues } from '../../../scaler/schema/presets.js';

/**
 * A field of `spec`. `isWritten` false: neither the document nor `defaults` of the service config sets the field, and
 * the value is the built-in default.
 */
export interface EffectiveField {
  readonly path: string;
  readonly value: string;
  readonly isWritten: boolean;
}

/** Returns the fields that are set, in the order of the document, and then the defaults that are in effect. */
export function listEffectiveFields(document: PlainObject): readonly EffectiveField[] {
  const spec = isPlainObject(document['spec']) ? document['spec'] : {};
  const written = flatten(spec, '');
  const paths = new Set(written.map(({ path }) => path));
  const defaults = [...defaultsInEffect(spec)].filter(([path]) => !paths.has(path));
  return [...written, ...defaults.map(([path, value]) => ({ path, value, isWritten: false }))];
}

type Default = string | number | boolean | undefined;

/** Returns the defaults in effect, by their path below `spec`. Defaults of fields in list items are not included. */
export function defaultsInEffect(spec: PlainObject): ReadonlyMap<string, string> {
  const preset = spec['preset'];
  const name = preset === 'chpa' || preset === 'hpa-1.11' ? preset : BUILT_IN.preset;
  const values: PresetValues = PRESETS[name];
  const tolerance = textOf(spec['tolerance'] ?? BUILT_IN.tolerance);
  const stabilization = textOf(spec['downscaleStabilizationSeconds'] ?? values.downscaleStabilizationSeconds);
  const hasLimit = hasScaleUpLimit(spec, values);
  const defaults: Readonly<Record<keyof SpecInput, Default | Readonly<Record<string, Default>>>> = {
    preset: BUILT_IN.preset,
    scaleTargetRef: { apiVersion: BUILT_IN.targetApiVersion, kind: BUILT_IN.targetKind },
    minReplicas: BUILT_IN.minReplicas,
    maxReplicas: undefined,
    maxReplicasFrom: isSet(spec['maxReplicasFrom']) ? { source: BUILT_IN.source } : undefined,
    metrics: isSet(spec['metrics'])
      ? undefined
      : `CPU at ${BUILT_IN.cpuUtilizationPercent} percent of the requests`,
    tolerance: BUILT_IN.tolerance,
    behavior: {
      'scaleUp.stabilizationWindowSeconds': BUILT_IN.scaleUpStabilizationWindowSeconds,
      'scaleUp.selectPolicy': BUILT_IN.selectPolicy,
      'scaleUp.tolerance': tolerance,
      'scaleDown.stabilizationWindowSeconds': stabilization,
      'scaleDown.selectPolicy': BUILT_IN.selectPolicy,
      'scaleDown.tolerance': tolerance,
    },
    scaleUpLimitFactor: hasLimit ? (values.scaleUpLimitFactor ?? BUILT_IN.scaleUpLimitFactor) : undefined,
    scaleUpLimitMinimum: hasLimit ? (values.scaleUpLimitMinimum ?? BUILT_IN.scaleUpLimitMinimum) : undefined,
    upscaleForbiddenWindowSeconds: values.upscaleForbiddenWindowSeconds,
    downscaleForbiddenWindowSeconds: values.downscaleForbiddenWindowSeconds,
    forbiddenWindowsSince: values.forbiddenWindowsSince,
    downscaleStabilizationSeconds: values.downscaleStabilizationSeconds,
    downscaleConfirmation: {
      seconds: BUILT_IN.confirmationSeconds,
      decisions: BUILT_IN.confirmationDecisions,
    },
    maxScaleDownPercentPerWindow: undefined,
    cpuInitializationPeriodSeconds: BUILT_IN.cpuInitializationPeriodSeconds,
    initialReadinessDelaySeconds: BUILT_IN.initialReadinessDelaySeconds,
    podStart: { seconds: 'learned from the pods' },
    forecast: isSet(spec['forecast'])
      ? {
          mode: BUILT_IN.forecastMode,
          lookback: BUILT_IN.forecastLookback,
          quantile: BUILT_IN.forecastQuantile,
          fillPercent: BUILT_IN.forecastFillPercent,
          lead: BUILT_IN.forecastLead,
          timeZone: BUILT_IN.timeZone,
          budgetPercent: BUILT_IN.forecastBudgetPercent,
        }
      : undefined,
    podWarmupSeconds: BUILT_IN.podWarmupSeconds,
    syncPeriodSeconds: BUILT_IN.syncPeriodSeconds,
    cooldownSeconds: BUILT_IN.cooldownSeconds,
    dryRun: BUILT_IN.dryRun,
    paused: BUILT_IN.paused,
    fallback: isSet(spec['fallback']) ? { mode: BUILT_IN.fallbackMode } : undefined,
    schedules: undefined,
    podDeletionCost: isSet(spec['podDeletionCost'])
      ? { order: BUILT_IN.deletionOrder, source: BUILT_IN.source }
      : undefined,
  };
  const found = new Map<string, string>();
  for (const [top, value] of Object.entries(defaults)) {
    if (!isPlainObject(value)) {
      if (value !== undefined) found.set(top, String(value));
      // Fields in an object have defaults only if the document contains the object.
    } else if (top === 'scaleTargetRef' || spec[top] !== undefined)
      for (const [key, one] of Object.entries(value)) found.set(`${top}.${key}`, String(one));
  }
  return found;
}

/** Returns false for an empty object or list, which means the same as an unset field. */
function isSet(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

/**
 * Returns whether the scale-up limit applies. If the document has `behavior`, the limit applies only if the document or
 * its preset sets a field of the limit.
 */
function hasScaleUpLimit(spec: PlainObject, values: PresetValues): boolean {
  const isSet = [spec['scaleUpLimitFactor'], spec['scaleUpLimitMinimum']].some(
    (value) => value !== undefined,
  );
  return (
    spec['behavior'] === undefined ||
    isSet ||
    values.scaleUpLimitFactor !== null ||
    values.scaleUpLimitMinimum !== null
  );
}

/** Returns the fields of a value. Recursion is safe, because the service has limited the depth of the document. */
function flatten(value: unknown, path: string): readonly EffectiveField[] {
  if (Array.isArray(value))
    return value.flatMap((item: unknown, index) => flatten(item, `${path}[${index}]`));
  if (isPlainObject(value))
    return Object.entries(value).flatMap(([key, member]) =>
      flatten(member, path === '' ? key : `${path}.${key}`),
    );
  return [{ path, value: textOf(value), isWritten: true }];
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : JSON.stringify(value ?? null);
}
