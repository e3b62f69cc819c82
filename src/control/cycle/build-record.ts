import { countChange } from '../../decision/explain.js';
import { metricFailed, NOT_COMPARED, SCALING_DISABLED, WITHOUT_TARGET } from '../../decision/conditions.js';
import type { TargetFailure } from '../../decision/failing.js';
import { worthRaising } from '../../decision/forecast/worth.js';
import { nameOtherScaler, type Pause, pauseMessage, pauseReason } from '../../decision/pause.js';
import { buildCondition, type Condition, conditionOf } from '../../decision/result/condition.js';
import type { Decision } from '../../decision/result/decision.js';
import {
  type KubernetesError,
  MissingTargetError,
  type OtherScaler,
  WAS_DELETED,
} from '../../kubernetes/api/types.js';
import { nameTarget } from '../../kubernetes/targets.js';
import { ignoredOfDocument, ignoredOfTarget, ignoredSentence } from '../../scaler/annotations.js';
import type { Scaler } from '../../scaler/spec.js';
import { noChange } from '../../telemetry/cycle-record.js';
import type { CycleRecord, Outcome, Shadow } from '../../telemetry/cycle-record.js';
import type { Instant } from '../../units/time.js';
import { conflictingWriterOf } from '../memory/conflicting-writer.js';
import { lastScales, type Memory } from '../memory/memory.js';
import { shortfallOf, targetReached } from './target-reached.js';
import { degradedMessage, overrideMessage, whyDryRun } from './holds.js';
import { endedPause } from './pause.js';
import { overrideOf } from './next-memory.js';
import { chooseOther } from './shared-targets.js';
import type { CycleInput, Hold, Observed, ScaleResult, Settled, Unread } from './types.js';
import { countOf } from '../../units/format.js';

export function buildRecord(
  { scaler, memory: before, now, followUps, sharesTargetWith }: CycleInput,
  settled: Settled,
  measured: Pick<CycleRecord, 'lastScales' | 'seconds'>,
): CycleRecord {
  const { observed, decision, hold, result } = settled;
  const { snapshot, memory, otherScaler, noAutoscaler, pause, isDryRun } = observed;
  const added = [
    ...withoutMetrics(settled),
    withIgnored(heldCondition(settled), scaler, observed),
    targetReachedAfter(settled, now),
    ...uniqueConditions(followUps.duplicates(scaler)),
    ...forecastConditions(settled, before.conditions),
  ];
  return {
    scaler,
    at: now,
    snapshot,
    decision,
    outcome: outcomeOf(settled),
    reason: changeReason(settled),
    conditions: keepJoined(before.conditions, conditionsOf(decision, result), added),
    pause,
    dryRun: isDryRun,
    conflictingWriter: conflictingWriterOf(memory.writer, now) ?? undefined,
    otherScaler: chooseOther(scaler.spec, { sharesTargetWith, hpa: otherScaler }) ?? undefined,
    noAutoscaler: noAutoscaler ?? undefined,
    shadow: shadowOf(decision, hold, otherScaler),
    ...measured,
  };
}

/** Returns the record of a cycle that could not read its target and therefore made no decision. */
export function buildUnreadRecord(
  { scaler, memory, now, readings, sharesTargetWith }: CycleInput,
  { failure, target, pause, isDryRun }: Unread,
  observeSeconds: number,
): CycleRecord {
  const isMissing = failure.kind === 'not_found' && target === null;
  const known = [
    ...failedQuery(failure, scaler, readings),
    ...(isMissing ? heldWithoutTarget(scaler, { pause, isDryRun }) : NO_CONDITIONS),
  ];
  const targetFailure = isMissing ? missingTarget(failure, scaler, memory) : targetFailureOf(failure, null);
  const unknown = isMissing ? WITHOUT_TARGET : NO_CONDITIONS;
  return {
    scaler,
    at: now,
    snapshot: null,
    decision: null,
    outcome: noChange(null),
    conditions: [
      cannotReadTarget(failure, targetFailure),
      ...known,
      ...unknown.filter(({ type }) => conditionOf(known, type) === undefined),
    ],
    targetFailure,
    pause,
    dryRun: isDryRun,
    conflictingWriter: conflictingWriterOf(memory.writer, now) ?? undefined,
    otherScaler: sharesTargetWith ?? undefined,
    lastScales: lastScales(memory),
    seconds: { observe: observeSeconds, decide: 0, act: 0 },
  };
}

/**
 * Returns the reason of a change if it differs from the reason of the decision, otherwise undefined. For a pause with a
 * fixed count: `7 -> 3: paused by annotation, kept at 3 (9 recommended)`. For a change in the first cycle after a
 * pause: `resumed: ...`.
 */
function changeReason({ decision, toApply, observed: { pause, memory } }: Settled): string | undefined {
  const { currentReplicas: from, desiredReplicas: to } = toApply;
  const text = fixedCountText(decision, pause);
  if (text !== null) return `${countChange(from, to)}: ${text}`;
  return pause === null && memory.wasPaused === true && from !== to
    ? `resumed: ${decision.reason}`
    : undefined;
}

/**
 * Returns why a pause sets the count, with the count that would apply without the pause; null: no pause sets the count.
 */
export function fixedCountText(decision: Decision, pause: Pause | null): string | null {
  if (pause === null || pause.replicas === null) return null;
  return `${pauseReason(pause)} (${withoutPause(decision)})`;
}

function withoutPause({
  recommendedReplicas: recommended,
  desiredReplicas,
  minReplicas,
  maxReplicas,
  metrics,
}: Decision): string {
  if (recommended === null && metrics.length > 0) return 'no metric has a value';
  // A bound would apply without the pause, and then decides this text in the next cycles, too.
  return recommended !== null && recommended >= minReplicas && recommended <= maxReplicas
    ? `${recommended} recommended`
    : `${desiredReplicas} without the pause`;
}

/**
 * Returns the comparison with the other autoscaler of the target. Undefined if anything besides the dry run holds the
 * decision, or a metric has no full value: the decision then does not predict what promscaler will do after the dry
 * run.
 */
function shadowOf(decision: Decision, hold: Hold | null, other: OtherScaler | null): Shadow | undefined {
  const theirReplicas = other?.desiredReplicas;
  if (hold?.reason !== 'DryRun' || other === null || theirReplicas === undefined) return undefined;
  if (!isCalculated(decision)) return undefined;
  const difference = decision.desiredReplicas - theirReplicas;
  return { beside: nameOtherScaler(other), theirReplicas, difference };
}

/**
 * Returns whether the count was calculated. While a metric has no full value, promscaler keeps the current count. The
 * HPA has set that count, so a comparison would always find no difference.
 */
function isCalculated({ metrics, action }: Decision): boolean {
  // No metric was used: either a bound sets the count, or the target stays at 0 and nothing is calculated.
  if (metrics.length === 0) return action !== 'none';
  return metrics.every(
    ({ error, partial, fallback }) => error === null && partial === null && fallback === undefined,
  );
}

const OUT_OF_BOUNDS = buildCondition(
  'ScalingActive',
  'NotEvaluated',
  'no metric is evaluated while the replica count is outside of the bounds',
);

/**
 * Returns the conditions that replace the previous ones while no metric is evaluated, because a pause keeps 0 replicas,
 * or because the count is outside of the bounds. Empty if this cycle has changed the count: the next decision needs
 * metrics again.
 */
function withoutMetrics({ observed, decision: { metrics, limits }, result }: Settled): readonly Condition[] {
  const { pause, target } = observed;
  if (metrics.length > 0) return NO_CONDITIONS;
  if (pause?.replicas === 0 && target.specReplicas === 0) return [SCALING_DISABLED];
  const [bound] = limits;
  if (bound === undefined || result?.kind === 'patched') return NO_CONDITIONS;
  const limited = bound.limit === 'max_replicas' ? 'TooManyReplicas' : 'TooFewReplicas';
  return [buildCondition('ScalingLimited', limited, bound.reason), OUT_OF_BOUNDS];
}

/**
 * Returns `TargetReached` after this cycle. If the cycle has changed the count, the condition is about the new count,
 * whose pods are not ready yet.
 */
function targetReachedAfter({ observed, result }: Settled, now: Instant): Condition {
  const { target, memory } = observed;
  const pods = memory.podFacts?.pods;
  if (result?.kind !== 'patched' || pods === undefined) return observed.targetReached;
  const changed = { ...target, specReplicas: result.replicas };
  return targetReached(changed, shortfallOf(memory.shortfall, changed, { pods, now }), { pods, now });
}

function whyDegraded(degraded: string | null, result: ScaleResult | null): string | null {
  if (result?.kind === 'unannounced') return result.message;
  return result?.kind === 'patched' && result.unannounced !== null ? result.unannounced : degraded;
}

/**
 * Returns the outcome of the cycle. If a pause with a fixed count prevents the decided change, the outcome names that
 * change.
 */
function outcomeOf({ observed: { pause }, decision, toApply, hold, result }: Settled): Outcome {
  const { currentReplicas: from, desiredReplicas: to } = toApply;
  const text = fixedCountText(decision, pause);
  if (toApply.action === 'none' && text !== null && decision.action !== 'none') {
    return { kind: 'paused', from, to: decision.desiredReplicas, message: text };
  }
  if (toApply.action === 'none') return noChange(from);
  if (hold !== null) return { kind: hold.outcome, from, to, message: hold.message };
  if (result === null) return noChange(from);
  switch (result.kind) {
    case 'patched':
      return result.replicas === to
        ? { kind: 'patched', from, to, message: text ?? '' }
        : {
            kind: 'replaced',
            from,
            to: result.replicas,
            message: `requested ${to}, but the server set ${result.replicas}`,
          };
    case 'moved':
    case 'recreated':
    case 'given-up':
      return { kind: 'conflict', from, to, message: result.message };
    case 'unannounced':
      return { kind: 'held', from, to, message: result.message };
    case 'failed':
      return { kind: 'failed', from, to, message: result.message };
    default:
      return result satisfies never;
  }
}

/**
 * Returns `before` if it equals the concatenation of `first` and `last`, otherwise the concatenation. See `keepList`.
 */
function keepJoined<T>(
  before: readonly T[] | undefined,
  first: readonly T[],
  last: readonly T[],
): readonly T[] {
  const isSame =
    before?.length === first.length + last.length &&
    first.every((one, index) => one === before[index]) &&
    last.every((one, index) => one === before[first.length + index]);
  return isSame ? before : [...first, ...last];
}

function conditionsOf(
  { conditions: decided, metrics }: Decision,
  result: ScaleResult | null,
): readonly Condition[] {
  const isCompared = metrics.length === 0 || conditionOf(decided, 'ScalingLimited') !== undefined;
  const conditions = isCompared ? decided : [...decided, NOT_COMPARED];
  const updated = updateCondition(result);
  return updated === null ? conditions : [updated, ...conditions.filter(({ type }) => type !== updated.type)];
}

function updateCondition(result: ScaleResult | null): Condition | null {
  if (result?.kind === 'failed') return buildCondition('AbleToScale', 'FailedUpdateScale', result.message);
  if (result?.kind !== 'patched') return null;
  return buildCondition(
    'AbleToScale',
    'SucceededRescale',
    `the target was set to ${countOf(result.replicas, 'replica')}`,
  );
}

function targetFailureOf(
  { suggestion, unusableKind }: KubernetesError,
  absence: TargetFailure['absence'],
): TargetFailure {
  return { absence, suggestion, unusableKind };
}

/**
 * Returns the failure for a target that does not exist. The suggestion of another workload is removed in two cases: the
 * target has existed, so its name is not a typo; or the scaler has the name of the target, so a correction would scale
 * another workload. After a restart, only the uid of a target is known. It may be the uid of the target of an earlier
 * version of the document.
 */
function missingTarget(failure: KubernetesError, { name, spec }: Scaler, memory: Memory): TargetFailure {
  const { scaleTargetRef: ref } = spec;
  const read = memory.scaler?.spec.scaleTargetRef;
  const wasRead = read?.name === ref.name && read.kind === ref.kind && read.apiVersion === ref.apiVersion;
  const existed = wasRead || (read === undefined && memory.uid !== null);
  const isRename = failure.suggestion !== null && failure.suggestion.name !== ref.name;
  const isDeleted = wasRead && failure.unusableKind === null;
  const found = targetFailureOf(failure, isDeleted ? 'deleted' : 'missing');
  return isRename && (existed || name === ref.name) ? { ...found, suggestion: null } : found;
}

function cannotReadTarget(failure: KubernetesError, { absence, suggestion }: TargetFailure): Condition {
  if (failure.kind === 'invalid_selector')
    return buildCondition('ScalingActive', 'InvalidSelector', failure.message);
  const isDeleted = absence === 'deleted';
  const message =
    failure instanceof MissingTargetError
      ? failure.describe({ suggestion, isDeleted })
      : `${failure.message}${isDeleted ? `; ${WAS_DELETED}` : ''}`;
  return buildCondition('AbleToScale', 'FailedGetScale', message);
}

/**
 * Returns the condition of the first failed query, which a user sees besides the failure to read the target. Empty: no
 * query failed, or the document has a fallback.
 */
function failedQuery(
  { kind }: KubernetesError,
  { spec }: Scaler,
  { answers }: CycleInput['readings'],
): readonly Condition[] {
  if (kind === 'invalid_selector' || spec.fallback !== null) return NO_CONDITIONS;
  const index = answers.findIndex((answer) => answer.class === 'failed');
  const [metric, answer] = [spec.metrics[index], answers[index]];
  if (metric === undefined || answer?.class !== 'failed') return NO_CONDITIONS;
  return [metricFailed(metric, { ...answer, source: metric.source })];
}

/**
 * Returns the condition `Held` for a target that does not exist: a pause of the document, or a dry run of the document
 * or the service, holds each decision. Empty: nothing holds decisions.
 */
function heldWithoutTarget(
  { spec }: Scaler,
  { pause, isDryRun }: Pick<Unread, 'pause' | 'isDryRun'>,
): readonly Condition[] {
  if (pause !== null) return [buildCondition('Held', 'Paused', pauseMessage(pause))];
  return isDryRun ? [buildCondition('Held', 'DryRun', whyDryRun(spec))] : NO_CONDITIONS;
}

/**
 * Returns the condition `Held`. A pause is reported in every cycle while it is in effect, even if it prevents nothing.
 * Only a conflict with another autoscaler of the target takes precedence.
 */
function heldCondition({ observed: { pause, degraded }, toApply, hold, result }: Settled): Condition {
  const override = overrideOf(toApply, result);
  const degradedNow = whyDegraded(degraded, result);
  if (pause !== null && hold?.reason !== 'ConflictingScaler') {
    if (hold?.reason === 'Paused') return buildCondition('Held', 'Paused', hold.message);
    const more = hold === null ? '' : `; ${hold.message}`;
    return buildCondition('Held', 'Paused', `${pauseMessage(pause)}${more}`);
  }
  if (hold !== null) return buildCondition('Held', hold.reason, hold.message);
  if (override !== null) return buildCondition('Held', 'ScaleOverridden', overrideMessage(override));
  return degradedNow === null
    ? NOT_HELD
    : buildCondition('Held', 'StateDegraded', degradedMessage(degradedNow));
}

/** Adds the annotations that have no effect to the condition `Held`, because their author expects a pause. */
function withIgnored(held: Condition, scaler: Scaler, { target, snapshot }: Observed): Condition {
  const { metadata } = scaler.document;
  const ofDocument = ignoredOfDocument(metadata.annotations, scaler);
  const ofTarget = ignoredOfTarget(target.annotations, scaler);
  const ended = held.status === 'False' ? endedPause(target.annotations, snapshot.now) : null;
  // For speed, builds no names if there is nothing to add, which is the usual case.
  if (ofDocument.length === 0 && ofTarget.length === 0 && ended === null) return held;
  const texts = [
    ignoredSentence(ofDocument, nameOtherScaler({ kind: 'Scaler', ...metadata })),
    ignoredSentence(ofTarget, nameTarget(scaler.namespace, target.ref)),
  ].filter((text) => text !== null);
  const message = [held.message, ...texts, ...(ended === null ? [] : [ended])].join('; ');
  return held.reason === 'NotHeld' && texts.length > 0
    ? buildCondition('Held', 'AnnotationIgnored', message)
    : { ...held, message };
}

/** One object for all decisions, to save memory: each past decision keeps its conditions. */
const NOT_HELD = buildCondition('Held', 'NotHeld', 'the decisions of the version in effect are applied');

/** Returns the condition `MetricsUnique`. Empty: no duplicates were ever found. */
export function uniqueConditions(duplicates: readonly string[] | null): readonly Condition[] {
  if (duplicates === null) return NO_CONDITIONS;
  if (duplicates.length === 0) return ALL_UNIQUE;
  return [buildCondition('MetricsUnique', 'DuplicateSeries', duplicates.join('; '))];
}

/**
 * Returns the condition `ForecastUseful`, if any. If the condition is unchanged, the object of the last record is
 * reused.
 */
function forecastConditions(
  { observed: { snapshot }, decision }: Settled,
  before: readonly Condition[] | undefined,
): readonly Condition[] {
  const { forecast } = snapshot.scaler.spec;
  const { forecast: state } = decision.state;
  if (forecast === null || state === undefined) return NO_CONDITIONS;
  const condition = worthRaising(forecast, state);
  if (condition === null) return NO_CONDITIONS;
  const known = conditionOf(before ?? NO_CONDITIONS, condition.type);
  return [known?.message === condition.message ? known : condition];
}

const NO_CONDITIONS: readonly Condition[] = [];
const ALL_UNIQUE: readonly Condition[] = [
  buildCondition('MetricsUnique', 'NoDuplicates', 'no series of a metric is duplicated'),
];
