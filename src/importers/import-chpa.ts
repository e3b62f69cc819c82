import type { PlainObject } from '../scaler/plain-json.js';
import { BUILT_IN, PRESETS } from '../scaler/schema/presets.js';
import type { ImportContext } from './manifest/context.js';
import { type Draft, defined } from './draft/draft.js';
import type { Fields } from './manifest/fields.js';
import { readMetrics } from './import-hpa.js';
import type { ReadMetadata } from './manifest/metadata.js';
import { readTarget } from './manifest/scale-target.js';

/** Converts the spec of a CHPA: an HPA with limits, which have the same names in `preset: chpa`. */
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
  spec.rest();
  return {
    spec: defined({
      preset: 'chpa',
      scaleTargetRef,
      minReplicas: minReplicas === 1 ? undefined : minReplicas,
      maxReplicas,
      ...limits,
    }),
    metrics,
    schedules: [],
  };
}

/** Reads the limits that differ from the preset. For the CHPA controller, 0 means unset. */
function readLimits(spec: Fields): PlainObject {
  const { chpa } = PRESETS;
  const tolerance = spec.number('tolerance');
  const differing = (value: number | undefined, preset: number | null): number | undefined =>
    value === preset || value === 0 ? undefined : value;
  return {
    tolerance: differing(tolerance, BUILT_IN.tolerance),
    scaleUpLimitFactor: differing(spec.number('scaleUpLimitFactor'), chpa.scaleUpLimitFactor),
    scaleUpLimitMinimum: differing(spec.integer('scaleUpLimitMinimum'), chpa.scaleUpLimitMinimum),
    upscaleForbiddenWindowSeconds: differing(
      spec.integer('upscaleForbiddenWindowSeconds'),
      chpa.upscaleForbiddenWindowSeconds,
    ),
    downscaleForbiddenWindowSeconds: differing(
      spec.integer('downscaleForbiddenWindowSeconds'),
      chpa.downscaleForbiddenWindowSeconds,
    ),
  };
}
