import type { PlainObject } from '../scaler/plain-json.js';
import { formatValue } from '../scaler/problems/finding.js';
import { BUILT_IN, PRESETS } from '../scaler/schema/presets.js';
import { DURATION_FORM, parseDuration } from '../units/duration.js';
import type { ImportContext } from './manifest/context.js';
import { type Draft, type DraftItem, defined } from './draft/draft.js';
import type { Fields } from './manifest/fields.js';
import { readMetrics } from './hpa/import-hpa.js';
import type { ReadMetadata } from './manifest/metadata.js';
import { readTarget } from './manifest/scale-target.js';

/**
 * Converts the spec of a CHPA: an HPA with limits. promscaler has the same limits under the same names with `preset:
 * chpa`. Also reads the CustomedHorizontalPodAutoscaler of Huawei Cloud CCE, whose rules cannot be converted.
 */
export function importChpa(
  manifest: Fields,
  _read: ReadMetadata,
  context: ImportContext,
): Omit<Draft, 'metadata'> | null {
  const spec = manifest.required('spec');
  if (spec === undefined) return null;
  const target = spec.object('scaleTargetRef');
  const scaleTargetRef = readTarget(target);
  target?.rest();
  const minReplicas = spec.integer('minReplicas');
  const maxReplicas = spec.integer('maxReplicas');
  const metrics = readMetrics(spec, [], context);
  const limits = readLimits(spec);
  const rules = readRules(spec, metrics.length);
  spec.rest();
  return {
    spec: defined({
      preset: 'chpa',
      scaleTargetRef,
      minReplicas: minReplicas === 1 ? undefined : minReplicas,
      maxReplicas,
      ...limits,
    }),
    metrics: [...metrics, ...rules],
    schedules: [],
  };
}

/** Reads the limits that differ from the preset. For the CHPA controller, 0 means unset. */
function readLimits(spec: Fields): PlainObject {
  const { chpa } = PRESETS;
  const tolerance = spec.number('tolerance');
  const differing = (value: number | undefined, preset: number | null): number | undefined =>
    value === preset || value === 0 ? undefined : value;
  const cooldown = readDuration(spec);
  return {
    tolerance: differing(tolerance, BUILT_IN.tolerance),
    scaleUpLimitFactor: differing(spec.number('scaleUpLimitFactor'), chpa.scaleUpLimitFactor),
    scaleUpLimitMinimum: differing(spec.integer('scaleUpLimitMinimum'), chpa.scaleUpLimitMinimum),
    upscaleForbiddenWindowSeconds: differing(
      spec.integer('upscaleForbiddenWindowSeconds') ?? cooldown,
      chpa.upscaleForbiddenWindowSeconds,
    ),
    downscaleForbiddenWindowSeconds: differing(
      spec.integer('downscaleForbiddenWindowSeconds') ?? cooldown,
      chpa.downscaleForbiddenWindowSeconds,
    ),
  };
}

/** Reads `coolDownTime` of CCE, such as `3m`: no scaling for this time after any change. */
function readDuration(spec: Fields): number | undefined {
  const text = spec.text('coolDownTime');
  if (text === undefined) return undefined;
  const seconds = parseDuration(text);
  if (seconds !== null) return seconds;
  spec.log.lose([...spec.path, 'coolDownTime'], `is ${formatValue(text)}, must be ${DURATION_FORM}`);
  return undefined;
}

/** Rules change the replicas in steps. A metric of promscaler has a target instead. */
function readRules(spec: Fields, first: number): readonly DraftItem[] {
  return (spec.list('rules') ?? []).map((rule, index): DraftItem => {
    const message =
      'FILL IN a metric with a target: rules that change the replicas by steps have no equivalent';
    rule.log.at(['spec', 'metrics', first + index]).lose(rule.path, message);
    return { value: rule.value, from: rule.path, isOff: true };
  });
}
