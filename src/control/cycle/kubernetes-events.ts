import { describeDrift } from '../../decision/explain-metric.js';
import { rescaleReason } from '../../decision/explain.js';
import { type Condition, conditionOf } from '../../decision/result/condition.js';
import type { MetricResult } from '../../decision/result/decision.js';
import type { TargetEvent } from '../../kubernetes/api/types.js';
import { type CycleRecord, rescaleDirection } from '../../telemetry/cycle-record.js';
import { hasAuto } from '../memory/measured-capacity.js';
import { fixedCountText } from './build-record.js';

/**
 * The reasons of all Events with their types. The Event for the start of a condition has the reason of that condition.
 */
export const EVENTS = {
  SuccessfulRescale: 'Normal',
  FailedRescale: 'Warning',
  FailedGetScale: 'Warning',
  FailedGetResourceMetric: 'Warning',
  FailedGetContainerResourceMetric: 'Warning',
  FailedGetPodsMetric: 'Warning',
  FailedGetObjectMetric: 'Warning',
  FailedGetExternalMetric: 'Warning',
  InvalidSelector: 'Warning',
  FallbackActive: 'Warning',
  FallbackEnded: 'Normal',
  ConflictingScaler: 'Warning',
  ConflictingWriter: 'Warning',
  NoAutoscaler: 'Warning',
  AnnotationIgnored: 'Warning',
  DryRunEnded: 'Normal',
  ScalingPaused: 'Normal',
  ScalingResumed: 'Normal',
  Unschedulable: 'Warning',
  RolloutStuck: 'Warning',
  CapacityChanged: 'Warning',
  WorthRaising: 'Normal',
  ChangeRecommended: 'Normal',
  Invalid: 'Warning',
  Duplicate: 'Warning',
  SourceNotAdmitted: 'Warning',
  NamespaceNotWatched: 'Warning',
} as const satisfies Readonly<Record<string, TargetEvent['type']>>;

type EventReason = keyof typeof EVENTS;

export function buildEvent(reason: EventReason, message: string): TargetEvent {
  return { type: EVENTS[reason], reason, message };
}

export function isEventReason(reason: string): reason is EventReason {
  return Object.hasOwn(EVENTS, reason);
}

/** The reason of `ScalingActive` while a fallback replaces a metric. */
const FALLBACK = 'FallbackActive';

/**
 * What was reported before a cycle. `conditions` are all current conditions, including those that only earlier records
 * reported.
 */
type Standing = Pick<CycleRecord, 'conditions' | 'outcome' | 'conflictingWriter'> & {
  readonly dryRun?: boolean;
};

/**
 * Returns the Kubernetes Events of a cycle: one for each change of replicas, one when a failure, fallback or pause
 * begins, and one when a fallback, pause or dry run ends. Events that the HPA also sends have the reasons of the HPA.
 */
export function kubernetesEvents(before: Standing | null, record: CycleRecord): readonly TargetEvent[] {
  return [
    ...rescaleEvents(before?.outcome ?? null, record),
    ...conditionEvents(before?.conditions ?? [], record.conditions),
    ...writerEvents(before, record),
    ...(before?.dryRun === true && !record.dryRun ? [DRY_RUN_ENDED] : []),
  ];
}

const DRY_RUN_ENDED = buildEvent('DryRunEnded', 'the scaler is no longer in dry run');

function rescaleEvents(
  before: CycleRecord['outcome'] | null,
  { scaler, decision, outcome, pause, reason: recordedReason }: CycleRecord,
): readonly TargetEvent[] {
  if (decision === null || outcome.to === null) return [];
  const isResumed = pause === null && recordedReason !== undefined;
  const ownReason = `${isResumed ? 'resumed: ' : ''}${rescaleReason(scaler.spec.metrics, decision)}`;
  const reason = fixedCountText(decision, pause) ?? ownReason;
  if (rescaleDirection(outcome) !== null) {
    return [buildEvent('SuccessfulRescale', `New size: ${outcome.to}; reason: ${reason}`)];
  }
  if (outcome.kind !== 'failed' || (before?.kind === 'failed' && before.to === outcome.to)) return [];
  return [
    buildEvent('FailedRescale', `New size: ${outcome.to}; reason: ${reason}; error: ${outcome.message}`),
  ];
}

function conditionEvents(before: readonly Condition[], after: readonly Condition[]): readonly TargetEvent[] {
  return after.flatMap((condition) => {
    const old = conditionOf(before, condition.type);
    if (old?.status === condition.status && old.reason === condition.reason) return [];
    const { reason, message } = condition;
    const events = isEventReason(reason) ? [buildEvent(reason, message)] : [];
    return [...events, ...endOfFallback(old, condition), ...pauseEvents(old, condition)];
  });
}

/** Returns an Event for each metric whose measured capacity has begun to drift in this cycle. */
export function driftEvents(
  before: Pick<CycleRecord, 'decision'> | null,
  { scaler, decision }: Pick<CycleRecord, 'scaler' | 'decision'>,
): readonly TargetEvent[] {
  if (decision === null || !hasAuto(scaler.spec)) return [];
  const known = new Set(before?.decision?.metrics.map((result) => driftKey(result)));
  return decision.metrics.flatMap((result) => {
    const { name, measuredCapacity } = result;
    if (measuredCapacity?.drift === undefined || known.has(driftKey(result))) return [];
    const { drift, value } = measuredCapacity;
    return [
      buildEvent(
        'CapacityChanged',
        `the measured capacity of a pod for metric ${name} is ${value}: ${describeDrift(drift, value)}`,
      ),
    ];
  });
}

function driftKey({ name, measuredCapacity }: MetricResult): string {
  return `${measuredCapacity?.drift?.since ?? ''} ${name}`;
}

function writerEvents(before: Standing | null, { conflictingWriter }: CycleRecord): readonly TargetEvent[] {
  if (conflictingWriter === undefined || before?.conflictingWriter !== undefined) return [];
  return [buildEvent('ConflictingWriter', conflictingWriter.message)];
}

function endOfFallback(old: Condition | undefined, { type, reason }: Condition): readonly TargetEvent[] {
  if (type !== 'ScalingActive' || old?.reason !== FALLBACK || reason === FALLBACK) return [];
  return [buildEvent('FallbackEnded', 'no metric uses the fallback anymore')];
}

/**
 * Returns the Event for the start or the end of a pause. A pause that ends in a cycle with `ConflictingScaler`, or
 * without a target, has no Event, because it is unknown whether the pause continues.
 */
function pauseEvents(old: Condition | undefined, condition: Condition): readonly TargetEvent[] {
  const { type, reason, message } = condition;
  if (type !== 'Held') return [];
  if (reason === 'Paused') return [buildEvent('ScalingPaused', message)];
  if (old?.reason !== 'Paused' || reason === 'ConflictingScaler' || reason === 'NotEvaluated') return [];
  return [buildEvent('ScalingResumed', 'scaling is no longer paused')];
}
