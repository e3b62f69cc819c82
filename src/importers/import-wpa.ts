import { isPlainObject, type PlainObject } from '../scaler/plain-json.js';
import { formatValue } from '../scaler/problems/finding.js';
import { milliToNumber, parseQuantity } from '../units/quantity.js';
import type { ImportContext } from './manifest/context.js';
import { type Draft, type DraftItem, defined } from './draft/draft.js';
import type { Fields } from './manifest/fields.js';
import { readMatchers } from './manifest/label-matchers.js';
import type { ReadMetadata } from './manifest/metadata.js';
import { namedMetricItem, withUniqueNames } from './manifest/named-metric.js';
import { readTarget } from './manifest/scale-target.js';

/**
 * Defaults of the controller. A tolerance or window of 0 also means the default. Source:
 * apis/datadoghq/v1alpha1/watermarkpodautoscaler_default.go.
 */
const DEFAULTS = { tolerance: 0.1, up: 50, down: 20, upWindow: 60, downWindow: 300, modulo: 1 };

/** With this annotation, the controller scales nothing while a Datadog monitor is not OK. */
const MONITOR_ANNOTATION = 'wpa.datadoghq.com/lifecycle-control.enabled';

const NO_EQUIVALENT = [
  'downscaleDelayBelowWatermarkSeconds',
  'upscaleDelayAboveWatermarkSeconds',
  'replicaScalingAbsoluteModulo',
  'convergeTowardsWatermark',
  'minAvailableReplicaPercentage',
  'recommender',
];

interface Watermarks {
  readonly low: number;
  readonly high: number;
}

interface ReadMetric {
  readonly item: DraftItem;
  readonly marks: Watermarks | null;
}

/**
 * Converts the spec of a WatermarkPodAutoscaler. The low watermark becomes the target, and the tolerance reaches up to
 * the high watermark. There are two differences, both with more replicas: scale-downs are rounded up, not down, and
 * scale-ups aim at the low watermark. Source: controllers/datadoghq/replica_calculator.go
 */
export function importWpa(
  manifest: Fields,
  { annotations }: ReadMetadata,
  context: ImportContext,
): Omit<Draft, 'metadata'> | null {
  const spec = manifest.required('spec');
  if (spec === undefined) return null;
  const monitor = annotations[MONITOR_ANNOTATION];
  if (monitor !== undefined)
    manifest.log.lose(
      ['metadata', 'annotations', MONITOR_ANNOTATION],
      `is ${formatValue(monitor)}: promscaler does not stop because of a Datadog monitor`,
    );
  const target = spec.object('scaleTargetRef');
  const scaleTargetRef = readTarget(target);
  target?.rest();
  const minReplicas = spec.integer('minReplicas');
  const maxReplicas = spec.integer('maxReplicas');
  const options = {
    isAverage: spec.text('algorithm') === 'average',
    isZeroTrusted: spec.flag('tolerateZero') === true,
    context,
  };
  const read = (spec.list('metrics') ?? []).map((metric, index) =>
    readMetric(metric.at(['spec', 'metrics', index]), options),
  );
  const behavior = readBehavior(spec, read);
  const windows = readWindows(spec);
  const dryRun = spec.flag('dryRun');
  const delay = spec.integer('readinessDelaySeconds');
  for (const key of NO_EQUIVALENT) {
    const value = spec.raw(key);
    // Nothing is lost if the field is off (0 or ''), or has the default that the controller writes into objects.
    const isOff = value === undefined || value === 0 || value === '';
    if (isOff || (key === 'replicaScalingAbsoluteModulo' && value === DEFAULTS.modulo)) continue;
    spec.log.lose([...spec.path, key], `is ${formatValue(value)}, which has no equivalent`);
  }
  spec.rest();
  return {
    spec: defined({
      dryRun: dryRun === true ? true : undefined,
      scaleTargetRef,
      minReplicas: minReplicas === 1 ? undefined : minReplicas,
      maxReplicas,
      behavior,
      ...windows,
      initialReadinessDelaySeconds: delay,
    }),
    metrics: withUniqueNames(read.map(({ item }) => item)),
    schedules: [],
  };
}

interface MetricOptions {
  /** Whether `algorithm` is `average`: the value is then divided by the number of ready pods. */
  readonly isAverage: boolean;
  readonly isZeroTrusted: boolean;
  readonly context: ImportContext;
}

function readMetric(metric: Fields, { isAverage, isZeroTrusted, context }: MetricOptions): ReadMetric {
  const type = metric.text('type');
  const body = metric.object(type === 'Resource' ? 'resource' : 'external');
  if (body === undefined) {
    metric.log.lose(metric.path, 'is not a metric of type External or Resource. FILL IN a metric');
    return { item: { value: metric.value, from: metric.path, isOff: true }, marks: null };
  }
  metric.rest();
  const [onlyLow, onlyHigh] = [body.quantity('lowWatermark'), body.quantity('highWatermark')];
  // As in the controller, a single watermark is used as low and as high watermark.
  const low = onlyLow ?? onlyHigh;
  const marks = marksOf(low, onlyHigh ?? onlyLow);
  const name = body.text('metricName') ?? '';
  const resource = body.text('name');
  const selector = readMatchers(body.object('metricSelector'));
  body.rest();
  if (marks === null) {
    metric.log.lose(body.path, 'has no valid lowWatermark and highWatermark. FILL IN the target');
    return { item: { value: metric.value, from: metric.path, isOff: true }, marks };
  }
  if (type === 'Resource') {
    const value = { resource: { name: resource, target: { averageValue: low } } };
    // Without `average`, the controller multiplies the pods by the ratio of the usage of all pods to the watermark.
    if (!isAverage) metric.log.lose(body.path, ABSOLUTE);
    if (selector.matchers.length + selector.problems.length > 0)
      metric.log.note(
        [...body.path, 'metricSelector'],
        'has no equivalent: promscaler always measures the pods of the target',
      );
    return { item: { value, from: metric.path, isOff: !isAverage }, marks };
  }
  const item = namedMetricItem(
    {
      metric: { member: 'external', name, selector, objectKind: null, objectGroup: null },
      target: { [isAverage ? 'averageValue' : 'value']: low },
      from: metric.path,
      log: metric.log,
    },
    context.queries,
  );
  return { item: isZeroTrusted ? item : withoutZero(item, metric), marks };
}

const ABSOLUTE =
  'is a total over all pods, because the algorithm is not average. FILL IN the target: the average per pod';

/**
 * Makes a value of 0 count as missing, because the controller does not scale on 0. Source:
 * controllers/datadoghq/replica_calculator.go
 */
function withoutZero(item: DraftItem, { log, path }: Fields): DraftItem {
  const external = item.value['external'];
  const query = isPlainObject(external) ? external['query'] : undefined;
  if (!isPlainObject(external) || typeof query !== 'string') return item;
  const field = [...path.slice(0, -2), 'tolerateZero'];
  if (item.isOff) {
    log.note(field, 'is false: to hold the replicas while the value is 0, add guard: sum(QUERY) != 0');
    return item;
  }
  log.note(field, 'is false, so the guard holds the replicas while the value is 0.');
  return { ...item, value: { external: { ...external, guard: `sum(${query}) != 0` } } };
}

function marksOf(low: string | number | undefined, high: string | number | undefined): Watermarks | null {
  const [lowMilli, highMilli] = [low, high].map((one) => (one === undefined ? null : parseQuantity(one)));
  if (lowMilli === null || highMilli === null || lowMilli === undefined || highMilli === undefined)
    return null;
  if (lowMilli <= 0n || highMilli < lowMilli) return null;
  return { low: milliToNumber(lowMilli), high: milliToNumber(highMilli) };
}

function readBehavior(spec: Fields, metrics: readonly ReadMetric[]): PlainObject {
  const tolerance = unlessZero(fractionOf(spec, 'tolerance')) ?? DEFAULTS.tolerance;
  const up = fractionOf(spec, 'scaleUpLimitFactor') ?? DEFAULTS.up;
  const down = fractionOf(spec, 'scaleDownLimitFactor') ?? DEFAULTS.down;
  const bands = metrics.flatMap(({ marks }) =>
    marks === null ? [] : [(marks.high * (1 + tolerance)) / marks.low - 1],
  );
  const band = Math.min(1, ...bands);
  if (bands.length > 0) spec.log.at(['spec', 'behavior']).lose([...spec.path, 'metrics'], SCALE_UP);
  if (bands.some((one) => one > 1) || new Set(bands).size > 1)
    spec.log
      .at(['spec', 'behavior'])
      .lose(
        [...spec.path, 'metrics'],
        `has watermarks that one tolerance of at most 100 % cannot represent: scale-up starts ${percent(band)} above the low watermark`,
      );
  return {
    scaleUp: { ...limitOf(up), ...(bands.length === 0 ? {} : { tolerance: round(band) }) },
    scaleDown: { ...limitOf(down), ...(bands.length === 0 ? {} : { tolerance: round(tolerance) }) },
  };
}

const SCALE_UP =
  'has only the low watermark as its target. Above the high watermark, promscaler requests more replicas than the WatermarkPodAutoscaler, to bring the value down to the low watermark. Below the low watermark, promscaler rounds the count up, not down';

function limitOf(factor: number): PlainObject {
  const value = Math.max(1, Math.floor(factor));
  return factor === 0
    ? { selectPolicy: 'Disabled' }
    : { policies: [{ type: 'Percent', value, periodSeconds: 15 }] };
}

function unlessZero(value: number | undefined): number | undefined {
  return value === 0 ? undefined : value;
}

function fractionOf(spec: Fields, key: string): number | undefined {
  const value = spec.quantity(key);
  if (typeof value === 'number' || value === undefined) return value;
  const plain = Number(value);
  if (Number.isFinite(plain)) return plain;
  const milli = parseQuantity(value);
  return milli === null ? undefined : milliToNumber(milli);
}

function round(value: number): number {
  return Math.max(0, Math.round(value * 1000) / 1000);
}

function percent(value: number): string {
  return `${Math.round(value * 100)} %`;
}

/** Reads the forbidden windows. Both start at the last change, whether it was a scale-up or a scale-down. */
function readWindows(spec: Fields): PlainObject {
  return {
    upscaleForbiddenWindowSeconds:
      unlessZero(spec.integer('upscaleForbiddenWindowSeconds')) ?? DEFAULTS.upWindow,
    downscaleForbiddenWindowSeconds:
      unlessZero(spec.integer('downscaleForbiddenWindowSeconds')) ?? DEFAULTS.downWindow,
    forbiddenWindowsSince: 'AnyRescale',
    downscaleStabilizationSeconds: 0,
  };
}
