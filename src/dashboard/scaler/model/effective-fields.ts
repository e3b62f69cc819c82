import { BUILT_IN, PRESETS } from '../../../scaler/schema/presets.js';
import type { PresetValues } from '../../../scaler/schema/presets.js';

/**
 * A field of `spec`. `isWritten`: the document or `defaults` of the service config set it; otherwise it is a default.
 */
export interface EffectiveField {
  readonly path: string;
  readonly value: string;
  readonly isWritten: boolean;
}

type Json = Readonly<Record<string, unknown>>;

/** Returns the written scalar fields in their order, then the defaults of the preset that are in effect. */
export function listEffectiveFields(document: Json): readonly EffectiveField[] {
  const spec = isObject(document['spec']) ? document['spec'] : {};
  const written = flatten(spec, '');
  const paths = new Set(written.map(({ path }) => path));
  const tops = new Set(Object.keys(spec));
  const defaults = defaultsOf(spec).filter(({ path }) => !paths.has(path) && isOpen(path, tops));
  return [...written, ...defaults];
}

/** A default within an object applies only if the object is written. */
function isOpen(path: string, tops: ReadonlySet<string>): boolean {
  const [top = '', second] = path.split('.');
  return second === undefined || top === 'scaleTargetRef' || tops.has(top);
}

function defaultsOf(spec: Json): readonly EffectiveField[] {
  const preset = spec['preset'];
  const name = preset === 'chpa' || preset === 'hpa-1.11' ? preset : BUILT_IN.preset;
  const values: PresetValues = PRESETS[name];
  const tolerance = spec['tolerance'] ?? BUILT_IN.tolerance;
  const stabilization = spec['downscaleStabilizationSeconds'] ?? values.downscaleStabilizationSeconds;
  const all: readonly (readonly [string, unknown])[] = [
    ['preset', BUILT_IN.preset],
    ['scaleTargetRef.apiVersion', BUILT_IN.targetApiVersion],
    ['scaleTargetRef.kind', BUILT_IN.targetKind],
    ['minReplicas', BUILT_IN.minReplicas],
    ['tolerance', BUILT_IN.tolerance],
    ['behavior.scaleUp.stabilizationWindowSeconds', BUILT_IN.scaleUpStabilizationWindowSeconds],
    ['behavior.scaleUp.selectPolicy', BUILT_IN.selectPolicy],
    ['behavior.scaleUp.tolerance', tolerance],
    ['behavior.scaleDown.stabilizationWindowSeconds', stabilization],
    ['behavior.scaleDown.selectPolicy', BUILT_IN.selectPolicy],
    ['behavior.scaleDown.tolerance', tolerance],
    ...(hasScaleUpLimit(spec, values)
      ? ([
          ['scaleUpLimitFactor', values.scaleUpLimitFactor ?? BUILT_IN.scaleUpLimitFactor],
          ['scaleUpLimitMinimum', values.scaleUpLimitMinimum ?? BUILT_IN.scaleUpLimitMinimum],
        ] as const)
      : []),
    ['upscaleForbiddenWindowSeconds', values.upscaleForbiddenWindowSeconds],
    ['downscaleForbiddenWindowSeconds', values.downscaleForbiddenWindowSeconds],
    ['forbiddenWindowsSince', values.forbiddenWindowsSince],
    ['downscaleStabilizationSeconds', values.downscaleStabilizationSeconds],
    ['downscaleConfirmation.seconds', BUILT_IN.confirmationSeconds],
    ['downscaleConfirmation.decisions', BUILT_IN.confirmationDecisions],
    ['cpuInitializationPeriodSeconds', BUILT_IN.cpuInitializationPeriodSeconds],
    ['initialReadinessDelaySeconds', BUILT_IN.initialReadinessDelaySeconds],
    ['podWarmupSeconds', BUILT_IN.podWarmupSeconds],
    ['syncPeriodSeconds', BUILT_IN.syncPeriodSeconds],
    ['cooldownSeconds', BUILT_IN.cooldownSeconds],
    ['dryRun', BUILT_IN.dryRun],
    ['paused', BUILT_IN.paused],
  ];
  return all.map(([path, value]) => ({ path, value: String(value), isWritten: false }));
}

/** With `behavior`, the limit applies only if the document or its preset sets one of its fields. */
function hasScaleUpLimit(spec: Json, values: PresetValues): boolean {
  const isSet = [spec['scaleUpLimitFactor'], spec['scaleUpLimitMinimum']].some(
    (value) => value !== undefined,
  );
  return spec['behavior'] === undefined || isSet || values.scaleUpLimitFactor !== null;
}

/** The document is parsed JSON of the API. The service has checked its depth. */
function flatten(value: unknown, path: string): readonly EffectiveField[] {
  if (Array.isArray(value))
    return value.flatMap((item: unknown, index) => flatten(item, `${path}[${index}]`));
  if (isObject(value))
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

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
