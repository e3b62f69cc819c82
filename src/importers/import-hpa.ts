import type { ImportContext } from './manifest/context.js';
import { type Draft, type DraftItem, defined, type RemarkLog } from './draft/draft.js';
import { type Fields, readFields } from './manifest/fields.js';
import { withUniqueNames } from './manifest/named-metric.js';
import { readTarget } from './manifest/scale-target.js';
import type { ReadMetadata } from './manifest/metadata.js';
import { readBehavior } from './manifest/behavior.js';
import { readMetric } from './hpa-metrics.js';
import type { PlainObject } from '../scaler/plain-json.js';
import { readPlain } from '../scaler/read/read-plain.js';
import { formatValue, type Path } from '../scaler/problems/finding.js';
import { JsonBoundsError, parseJsonWithin } from '../units/json-bounds.js';
import { BUILT_IN, PRESETS } from '../scaler/schema/presets.js';

type Named = Pick<ReadMetadata, 'annotations'>;

/**
 * Converts the spec of a HorizontalPodAutoscaler of extensions/v1beta1 or autoscaling/v1, v2beta1, v2beta2 or v2. The
 * fields of all versions are read, whatever the apiVersion is.
 */
export function importHpa(
  manifest: Fields,
  { annotations }: Named,
  context: ImportContext,
): Omit<Draft, 'metadata'> | null {
  const spec = manifest.required('spec');
  manifest.skip('status');
  if (spec === undefined) return null;
  const old = readOldAnnotations(annotations, manifest.log);
  const target = spec.object('scaleTargetRef') ?? readScaleRef(spec);
  const minReplicas = spec.integer('minReplicas');
  const maxReplicas = spec.integer('maxReplicas');
  const metrics = readMetrics(spec, old.metrics, context);
  const behavior = readBehavior(spec.object('behavior') ?? old.behavior);
  const scaleTargetRef = readTarget(target);
  target?.rest();
  spec.rest();
  return {
    spec: defined({
      scaleTargetRef,
      minReplicas: minReplicas === 1 ? undefined : minReplicas,
      maxReplicas,
      behavior,
    }),
    metrics,
    schedules: [],
  };
}

/** Reads the target of extensions/v1beta1. Its field `subresource` is ignored, because it is always `scale`. */
function readScaleRef(spec: Fields): Fields | undefined {
  const reference = spec.object('scaleRef');
  reference?.skip('subresource');
  return reference;
}

/**
 * Reads the metrics in the spec, then the metrics in the annotation of autoscaling/v1. The API server uses the same
 * order.
 */
export function readMetrics(
  spec: Fields,
  annotated: readonly Fields[],
  context: ImportContext,
): readonly DraftItem[] {
  const cpu = cpuItem(spec);
  const listed = [...(spec.list('metrics') ?? []), ...annotated];
  const first = cpu === null ? 0 : 1;
  const items = listed.map((metric, index) =>
    readMetric(metric.at(['spec', 'metrics', first + index]), context),
  );
  return withUniqueNames(cpu === null ? items : [cpu, ...items]);
}

/** Reads the CPU target, which is the only metric in the spec of autoscaling/v1 and extensions/v1beta1. */
function cpuItem(spec: Fields): DraftItem | null {
  const old = spec.object('cpuUtilization');
  const percent = spec.integer('targetCPUUtilizationPercentage') ?? old?.integer('targetPercentage');
  old?.rest();
  if (percent === undefined) return null;
  const from = [...spec.path, old === undefined ? 'targetCPUUtilizationPercentage' : 'cpuUtilization'];
  const value = { resource: { name: 'cpu', target: { averageUtilization: percent } } };
  return { value, from, isOff: false };
}

const PREFIX = 'autoscaling.alpha.kubernetes.io/';
const BOUNDS = { depth: 32, items: 20_000 };

/**
 * Reads the annotations in which autoscaling/v1 stores fields of autoscaling/v2, because its `spec` has only the CPU
 * target. The annotations `conditions` and `current-metrics` are ignored, because they are status.
 */
function readOldAnnotations(
  annotations: PlainObject,
  log: RemarkLog,
): { readonly metrics: readonly Fields[]; readonly behavior: Fields | undefined } {
  const metrics = readJson('metrics', annotations, log);
  const behavior = readJson('behavior', annotations, log);
  return {
    metrics: metrics === undefined ? [] : readList(metrics.value, metrics.path, log),
    behavior:
      behavior === undefined
        ? undefined
        : (readFields(behavior.value, behavior.path, log, { isCaseless: true }) ?? undefined),
  };
}

function readList(value: unknown, path: Path, log: RemarkLog): readonly Fields[] {
  if (!Array.isArray(value)) {
    log.lose(path, `is ${formatValue(value)}, must be a list; the field is not carried over`);
    return [];
  }
  return value.flatMap((item: unknown, index) => readFields(item, [...path, index], log) ?? []);
}

function readJson(
  name: string,
  annotations: PlainObject,
  log: RemarkLog,
): { readonly value: unknown; readonly path: Path } | undefined {
  const text = annotations[`${PREFIX}${name}`];
  const path = ['metadata', 'annotations', `${PREFIX}${name}`];
  if (typeof text !== 'string') return undefined;
  try {
    return { value: readPlain(parseJsonWithin(text, BOUNDS)).value, path };
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof JsonBoundsError)) throw error;
    log.lose(path, `is not JSON (${error.message}); the annotation is not carried over`);
    return undefined;
  }
}

/**
 * Converts the spec of a CHPA: the fields of an HPA, and additional limits, which have the same names in a scaler
 * document.
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

/** Returns the limits that differ from the preset `chpa`. As in the CHPA controller, 0 means unset. */
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
