import { type PlainObject, valueAt } from '../../scaler/plain-json.js';
import { BUILT_IN, PRESETS } from '../../scaler/schema/presets.js';
import type { ImportContext } from '../manifest/context.js';
import { type Draft, type DraftItem, defined, type RemarkLog } from '../draft/draft.js';
import type { Fields } from '../manifest/fields.js';
import { readBehavior } from '../manifest/behavior.js';
import type { ReadMetadata } from '../manifest/metadata.js';
import { withUniqueNames } from '../manifest/named-metric.js';
import { readTarget } from '../manifest/scale-target.js';
import { readTriggers } from './read-triggers.js';
import { formatValue } from '../../scaler/problems/finding.js';
import { countOf } from '../../units/format.js';
import { type Decline, secondsToZero } from './seconds-to-zero.js';
import { parseBoolean } from './trigger.js';

const DEFAULTS = { minReplicaCount: 0, maxReplicaCount: 100, pollingInterval: 30, cooldownPeriod: 300 };

/** The sync period of the HPA that KEDA creates. */
const HPA_PERIOD_SECONDS = 15;

export function importScaledObject(
  manifest: Fields,
  { annotations }: Pick<ReadMetadata, 'annotations'>,
  context: ImportContext,
): Omit<Draft, 'metadata'> | null {
  const spec = manifest.required('spec');
  if (spec === undefined) return null;
  const target = spec.object('scaleTargetRef');
  const scaleTargetRef = readScaleTarget(target);
  const maxReplicas = spec.integer('maxReplicaCount') ?? DEFAULTS.maxReplicaCount;
  const { minimum, idle } = readMinimum(spec);
  const advanced = readAdvanced(spec);
  const { metrics, schedules } = readTriggers(spec, {
    sources: context.sources,
    minimum,
    idle,
    maxReplicas,
    formula: advanced.formula,
  });
  const all = withIdleMetric(metrics, schedules, minimum);
  // If there are no external metrics, a minimum of 0 is raised to 1: CPU and memory have no value without pods, so KEDA
  // never scales to 0 on them.
  const isPodsOnly = minimum === 0 && all.length > 0 && all.every(({ value }) => !('external' in value));
  const minReplicas = isPodsOnly ? 1 : minimum;
  readForceActivation(annotations, manifest.log, { minReplicas, idle });
  const times = readTimes(spec, { minReplicas, maxReplicas, idle, behavior: advanced.behavior });
  const isPartial = all.some(({ value }) => !isAverage(value));
  const fallback = readFallback(spec, { minReplicas, maxReplicas, isPartial });
  spec.rest();
  return {
    spec: defined({
      ...readPause(annotations, manifest.log),
      scaleTargetRef,
      minReplicas: minReplicas === 1 ? undefined : minReplicas,
      maxReplicas,
      behavior: advanced.behavior,
      ...times,
      fallback,
    }),
    metrics: withUniqueNames(all),
    schedules,
  };
}

function readScaleTarget(target: Fields | undefined): PlainObject | undefined {
  if (target === undefined) return undefined;
  const read = readTarget(target);
  // `deploymentName` and `containerName` are fields of KEDA 1 (keda.k8s.io/v1alpha1).
  const old = target.text('deploymentName');
  target.skip('containerName', 'envSourceContainerName');
  target.rest();
  return read?.['name'] === undefined ? { ...read, name: old } : read;
}

/**
 * Reads the minimum. `idle`: the replicas of an inactive workload, which a document cannot express; null: they equal
 * the minimum.
 */
function readMinimum(spec: Fields): { readonly minimum: number; readonly idle: number | null } {
  const minimum = spec.integer('minReplicaCount') ?? DEFAULTS.minReplicaCount;
  const idle = spec.integer('idleReplicaCount') ?? null;
  // `minReplicas: 0` has the same effect: an inactive workload has 0 replicas, and an active workload at least 1.
  if (idle === 0 && minimum === 1) return { minimum: 0, idle: null };
  if (idle === null || idle === minimum) return { minimum, idle: null };
  const message = `is ${idle}: promscaler has no separate count for an idle workload and keeps at least ${minimum}`;
  spec.log.lose([...spec.path, 'idleReplicaCount'], message);
  return { minimum, idle };
}

interface Advanced {
  readonly behavior: PlainObject | undefined;
  readonly formula: Fields | undefined;
}

function readAdvanced(spec: Fields): Advanced {
  const advanced = spec.object('advanced');
  if (advanced === undefined) return { behavior: undefined, formula: undefined };
  if (advanced.flag('restoreToOriginalReplicaCount') === true) {
    const message = 'is true: promscaler leaves the replicas as they are when a document is deleted';
    spec.log.lose([...advanced.path, 'restoreToOriginalReplicaCount'], message);
  }
  const hpa = advanced.object('horizontalPodAutoscalerConfig');
  hpa?.skip('name');
  const behavior = readBehavior(hpa?.object('behavior'), ['spec', 'behavior']);
  hpa?.rest();
  const modifiers = advanced.object('scalingModifiers');
  advanced.rest();
  if (modifiers?.has('formula') === true) return { behavior, formula: modifiers };
  if (modifiers !== undefined && Object.keys(modifiers.value).length > 0)
    modifiers.log.lose(
      modifiers.path,
      `has no formula, so these fields of the modifiers are not carried over: ${Object.keys(modifiers.value).join(', ')}`,
    );
  return { behavior, formula: undefined };
}

interface Step {
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly idle: number | null;
  readonly behavior: PlainObject | undefined;
}

/**
 * Reads cooldownPeriod and pollingInterval. The cooldown only applies to the step from the minimum to the idle count,
 * which is usually 0.
 */
function readTimes(spec: Fields, { minReplicas, maxReplicas, idle, behavior }: Step): PlainObject {
  const cooldown = spec.integer('cooldownPeriod');
  const polling = spec.integer('pollingInterval') ?? DEFAULTS.pollingInterval;
  const initial = spec.integer('initialCooldownPeriod') ?? 0;
  const isZero = minReplicas === 0;
  const place = [...spec.path, 'cooldownPeriod'];
  const initialPlace = [...spec.path, 'initialCooldownPeriod'];
  if (initial > 0 && !isZero && idle === null)
    spec.log.note(
      initialPlace,
      `is ${initial}, which has no effect: KEDA applies it only to the step to 0 replicas.`,
    );
  else if (initial > 0)
    spec.log.lose(
      initialPlace,
      `is ${initial}, which has no equivalent: KEDA scales to ${idle ?? 0} only after this time since the creation of the ScaledObject`,
    );
  if (!isZero && idle !== null && cooldown !== undefined)
    spec.log.lose(
      place,
      `is ${cooldown}: KEDA sets idleReplicaCount (${idle}) after this time, but promscaler has no idle count`,
    );
  else if (!isZero && cooldown !== undefined && cooldown !== DEFAULTS.cooldownPeriod)
    spec.log.note(
      place,
      `is ${cooldown}, which has no effect: KEDA applies it only to the step to 0 replicas. downscaleStabilizationSeconds delays every scale-down.`,
    );
  const isShort = polling > 0 && polling < HPA_PERIOD_SECONDS;
  if (isShort)
    spec.log.note(
      [...spec.path, 'pollingInterval'],
      `is ${polling}: syncPeriodSeconds ${polling} applies to every decision. In KEDA, this interval applies only to activation; the HPA decides every ${HPA_PERIOD_SECONDS} s.`,
    );
  const syncPeriodSeconds = isShort ? polling : undefined;
  return {
    cooldownSeconds: isZero
      ? readCooldown(spec, cooldown, { maxReplicas, behavior, syncPeriodSeconds })
      : undefined,
    syncPeriodSeconds,
  };
}

/**
 * Returns `cooldownSeconds`, which is cooldownPeriod minus the stabilization window. KEDA sets 0 replicas, from any
 * count, cooldownPeriod after the last activity. In promscaler, the stabilization of scale-downs begins only after
 * cooldownSeconds, and policies limit each step. Source: pkg/scaling/executor/scale_scaledobjects.go, scaleToZeroOrIdle
 */
function readCooldown(
  { log, path }: Fields,
  written: number | undefined,
  decline: Omit<Decline, 'cooldownSeconds'>,
): number {
  const cooldown = written ?? DEFAULTS.cooldownPeriod;
  const rules = valueAt(decline.behavior, ['scaleDown']);
  const stabilization = valueAt(rules, ['stabilizationWindowSeconds']) ?? DEFAULT_STABILIZATION;
  const window = typeof stabilization === 'number' ? stabilization : DEFAULT_STABILIZATION;
  const cooldownSeconds = Math.max(0, cooldown - window);
  const { lose, note } = log.at(['spec', 'cooldownSeconds']);
  const place = [...path, 'cooldownPeriod'];
  const value = `is ${cooldown}${written === undefined ? ' (the default)' : ''}: KEDA sets 0 replicas`;
  const slower = slowerText(Math.max(cooldown, window), rules, { ...decline, cooldownSeconds });
  if (slower !== null)
    lose(
      place,
      `${value} ${cooldown} s after the last activity, in one step from any replica count. promscaler ${slower}, because behavior.scaleDown also applies to this step`,
    );
  else if (cooldown < window)
    lose(
      place,
      `${value} ${cooldown} s after the last activity, but promscaler sets 0 replicas after ${window} s, because the downscale stabilization also applies to this step`,
    );
  else
    note(
      place,
      `${value} ${cooldown} s after the last activity. promscaler does the same after cooldownSeconds (${cooldownSeconds}) and the downscale stabilization (${window} s).`,
    );
  return cooldownSeconds;
}

/**
 * Returns a clause that says how long policies delay the scale-down to 0 after the last activity. Null: policies cause
 * no delay.
 */
function slowerText(fromOne: number, rules: unknown, decline: Decline): string | null {
  if (valueAt(rules, ['selectPolicy']) === 'Disabled') return 'never sets 0 replicas';
  if (valueAt(rules, ['policies']) === undefined && valueAt(rules, ['selectPolicy']) === undefined)
    return null;
  const seconds = secondsToZero(decline);
  const from = `${fromOne} s from 1 replica, and`;
  if (seconds === null)
    return `sets 0 replicas after ${from} much later from ${countOf(decline.maxReplicas, 'replica')}`;
  const isSlower = seconds > fromOne + (decline.syncPeriodSeconds ?? HPA_PERIOD_SECONDS);
  return isSlower
    ? `sets 0 replicas after ${from} after ${seconds} s from ${countOf(decline.maxReplicas, 'replica')}`
    : null;
}

const DEFAULT_STABILIZATION = PRESETS[BUILT_IN.preset].downscaleStabilizationSeconds;

/**
 * If all triggers are schedules, adds a metric that is always 0. The minimum then applies outside of the schedules, as
 * in KEDA. A document without metrics would scale on CPU.
 */
function withIdleMetric(
  metrics: readonly DraftItem[],
  schedules: readonly DraftItem[],
  minimum: number,
): readonly DraftItem[] {
  const [first] = schedules;
  if (metrics.length > 0 || first === undefined) return metrics;
  const external = defined({
    metric: { name: 'idle' },
    query: 'vector(0)',
    target: { averageValue: 1 },
    activation: minimum === 0 ? { above: 0 } : undefined,
  });
  return [{ value: { external }, from: first.from, isOff: false }];
}

/**
 * Seconds between two failures: KEDA counts the failed queries of its HPA, which queries each trigger every 15 s.
 * Source: pkg/fallback/fallback.go
 */
const SECONDS_PER_FAILURE = 15;
const LONGEST_SECONDS = 86_400;

interface Bounds {
  readonly minReplicas: number;
  readonly maxReplicas: number;
  /** Whether the fallback of KEDA ignores one of the triggers. */
  readonly isPartial: boolean;
}

function isAverage(metric: PlainObject): boolean {
  return valueAt(metric, ['external', 'target', 'averageValue']) !== undefined;
}

/**
 * Reads `fallback`; undefined: none, or it has no equivalent. A fallback to the current replicas is the default of
 * promscaler.
 */
function readFallback(
  spec: Fields,
  { minReplicas, maxReplicas, isPartial }: Bounds,
): PlainObject | undefined {
  const fallback = spec.object('fallback');
  if (fallback === undefined) return undefined;
  const { log, path } = fallback;
  const failures = fallback.integer('failureThreshold');
  const written = fallback.integer('replicas');
  const behavior = fallback.text('behavior') ?? 'static';
  fallback.rest();
  if (behavior === 'currentReplicas') return undefined;
  if (behavior === 'currentReplicasIfLower' || !['static', 'currentReplicasIfHigher'].includes(behavior)) {
    log.lose(
      [...path, 'behavior'],
      `is ${behavior}, which has no equivalent; the replicas are held while a metric is missing`,
    );
    return undefined;
  }
  if (failures === undefined || written === undefined) {
    log.lose(path, 'is not carried over, because failureThreshold or replicas is missing');
    return undefined;
  }
  const replicas = Math.min(Math.max(written, minReplicas), maxReplicas);
  if (replicas !== written)
    log.lose(
      [...path, 'replicas'],
      `is ${written}, outside of ${minReplicas} to ${maxReplicas}; ${replicas} is used`,
    );
  const notes = [COUNTED, ...(behavior === 'static' ? [EXACT] : []), ...(isPartial ? [PARTIAL] : [])];
  log.note(path, notes.join(' '));
  const afterSeconds = Math.min(Math.max(failures, 0) * SECONDS_PER_FAILURE, LONGEST_SECONDS);
  return { afterSeconds, replicas, mode: behavior === 'static' ? 'exact' : behavior };
}

const COUNTED = 'is converted to seconds: KEDA counts one failure every 15 s.';
const EXACT = 'mode: exact may also scale down, as KEDA does; mode: atLeast would not.';
/** A fallback of KEDA ignores these triggers. Source: pkg/fallback/fallback.go, isFallbackEnabled */
const PARTIAL =
  'In promscaler, the fallback also applies to cpu, memory and metricType Value; in KEDA, it does not.';

/**
 * Returns whether an annotation is true. Any value that is not a boolean counts as true. Source:
 * apis/keda/v1alpha1/scaledobject_types.go, getBoolAnnotation
 */
function isFlagSet(value: unknown): boolean {
  return typeof value === 'string' && (parseBoolean(value) ?? true);
}

/**
 * Adds a remark about the annotation that keeps a workload active. It only has an effect if the workload could
 * otherwise have 0 replicas or the idle count.
 */
function readForceActivation(
  annotations: PlainObject,
  log: RemarkLog,
  { minReplicas, idle }: Pick<Step, 'minReplicas' | 'idle'>,
): void {
  const name = `${PREFIX}force-activation`;
  if (!isFlagSet(annotations[name])) return;
  const place = ['metadata', 'annotations', name];
  const { lose, note } = log.at(['spec', 'minReplicas']);
  if (minReplicas > 0)
    note(
      place,
      idle === null
        ? 'is set, but has no effect: KEDA applies it only with minReplicaCount 0 or idleReplicaCount.'
        : `is set: promscaler always keeps at least ${minReplicas}.`,
    );
  else
    lose(
      place,
      'is set and keeps at least one replica, whatever the triggers return: set minReplicas to 1 as long as the annotation is set',
    );
}

const PREFIX = 'autoscaling.keda.sh/';
const PAUSES = ['paused', 'paused-replicas', 'paused-scale-in', 'paused-scale-out'];
const KNOWN = [...PAUSES, 'force-activation'];

function readPause(annotations: PlainObject, log: RemarkLog): PlainObject {
  const valueOf = (name: string): unknown => annotations[`${PREFIX}${name}`];
  const isSet = (name: string): boolean => isFlagSet(valueOf(name));
  const replicas = valueOf('paused-replicas');
  if (replicas !== undefined) {
    const path = ['metadata', 'annotations', `${PREFIX}paused-replicas`];
    log
      .at(['spec', 'paused'])
      .lose(path, `is ${formatValue(replicas)}: set the replicas with promscaler pause --replicas`);
  }
  for (const key of Object.keys(annotations))
    if (key.startsWith(PREFIX) && !KNOWN.includes(key.slice(PREFIX.length)))
      log.lose(['metadata', 'annotations', key], 'is not a known annotation and is not carried over');
  const isUpPaused = isSet('paused-scale-out');
  const isDownPaused = isSet('paused-scale-in');
  const isPaused = replicas !== undefined || isSet('paused') || (isUpPaused && isDownPaused);
  const paused = isPaused ? true : isUpPaused ? 'scale-up' : isDownPaused ? 'scale-down' : null;
  if (paused === null) return {};
  const [key = ''] = ['paused', 'paused-scale-out', 'paused-scale-in'].filter(isSet);
  if (replicas === undefined)
    log
      .at(['spec', 'paused'])
      .note(
        ['metadata', 'annotations', `${PREFIX}${key}`],
        `is set, so the document has spec.paused: ${String(paused)}. To end the pause in promscaler, too, remove spec.paused.`,
      );
  return { paused };
}

/** Returns the annotations that pause KEDA, also in one direction only; empty: KEDA is not paused. */
export function kedaPauses(annotations: Readonly<Record<string, unknown>>): readonly string[] {
  return PAUSES.map((name) => `${PREFIX}${name}`).filter((key) =>
    key === `${PREFIX}paused-replicas` ? annotations[key] !== undefined : isFlagSet(annotations[key]),
  );
}
