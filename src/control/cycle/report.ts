import { rescaleReason } from '../../decision/explain.js';
import type { Condition } from '../../decision/result/decision.js';
import type { TargetEvent } from '../../kubernetes/api/types.js';
import { rescaleDirection } from '../../telemetry/cycle-record.js';
import type { CycleRecord, OutcomeKind } from '../../telemetry/cycle-record.js';
import { conditionOf } from '../../telemetry/ledger.js';
import { isQuiet } from '../../telemetry/service-events.js';
import { orderText } from './record.js';
import type { CycleOutput, CycleReportPorts } from './types.js';

/** Outcomes after a request was sent to the API server. */
const SENT: ReadonlySet<OutcomeKind> = new Set(['patched', 'replaced', 'failed']);

/**
 * Reports a cycle to ledger, metrics, log, Events and `onCycle`. A cycle that was canceled at the end of its term is
 * reported only if it sent a change of replicas: a canceled query is not a failure. Never throws, so that the caller
 * keeps the memory of the cycle.
 */
export function reportCycle(
  output: CycleOutput,
  { isCanceled }: { readonly isCanceled: boolean },
  ports: CycleReportPorts,
): void {
  const { record, target } = output;
  ports.onEnd?.(record.at);
  if (isCanceled && !SENT.has(record.outcome.kind)) return;
  try {
    const { before, after } = ports.recorder.record(record);
    if (target !== null && !isQuiet(before, after)) {
      const standing =
        before === null
          ? null
          : {
              conditions: before.conditions,
              outcome: before.record.outcome,
              conflictingWriter: before.record.conflictingWriter,
            };
      for (const event of kubernetesEvents(standing, record)) ports.recordEvent(target, event, after.key);
    }
    ports.onCycle?.(output);
  } catch (error) {
    ports.log.error('failed to record cycle', { scaler: record.scaler.key, error });
  }
  // The term may end during a cycle. A standby logs the result, but must not expose a scaler that the leader
  // exposes.
  if (!ports.isLeading()) ports.recorder.remove(record.scaler.key);
}

/** Reason of `ScalingActive` while the fallback replaces a metric. */
const FALLBACK = 'FallbackActive';

/** State before a cycle, with all current conditions. */
type Standing = Pick<CycleRecord, 'conditions' | 'outcome' | 'conflictingWriter'>;

/**
 * Returns the Kubernetes Events of a cycle, with the reasons of the HPA: for each change of replicas, once when a
 * failure, fallback or pause begins, and once when a fallback or pause ends.
 */
export function kubernetesEvents(before: Standing | null, record: CycleRecord): readonly TargetEvent[] {
  return [
    ...rescaleEvents(before?.outcome ?? null, record),
    ...conditionEvents(before?.conditions ?? [], record.conditions),
    ...writerEvents(before, record),
  ];
}

function rescaleEvents(
  before: CycleRecord['outcome'] | null,
  { scaler, decision, outcome, pause, reason: recordedReason }: CycleRecord,
): readonly TargetEvent[] {
  if (decision === null || outcome.to === null) return [];
  const isResumed = pause === null && recordedReason !== undefined;
  const ownReason = `${isResumed ? 'resumed: ' : ''}${rescaleReason(scaler.spec.metrics, decision)}`;
  const reason = orderText(decision, pause) ?? ownReason;
  if (rescaleDirection(outcome) !== null) {
    return [
      { type: 'Normal', reason: 'SuccessfulRescale', message: `New size: ${outcome.to}; reason: ${reason}` },
    ];
  }
  if (outcome.kind !== 'failed' || (before?.kind === 'failed' && before.to === outcome.to)) return [];
  const message = `New size: ${outcome.to}; reason: ${reason}; error: ${outcome.message}`;
  return [{ type: 'Warning', reason: 'FailedRescale', message }];
}

function conditionEvents(before: readonly Condition[], after: readonly Condition[]): readonly TargetEvent[] {
  return after.flatMap((condition) => {
    const old = conditionOf(before, condition.type);
    if (old?.status === condition.status && old.reason === condition.reason) return [];
    return [...eventOf(condition), ...endOfFallback(old, condition), ...pauseEvents(old, condition)];
  });
}

function writerEvents(before: Standing | null, { conflictingWriter }: CycleRecord): readonly TargetEvent[] {
  if (conflictingWriter === undefined || before?.conflictingWriter !== undefined) return [];
  return [{ type: 'Warning', reason: 'ConflictingWriter', message: conflictingWriter.message }];
}

function eventOf({ type, status, reason, message }: Condition): readonly TargetEvent[] {
  const isFailure = type === 'ScalingActive' && status === 'False' && reason !== 'ScalingDisabled';
  const isUnread = type === 'AbleToScale' && reason === 'FailedGetScale';
  const isConflict = type === 'Held' && reason === 'ConflictingScaler';
  const isFallback = type === 'ScalingActive' && reason === FALLBACK;
  const isShort = type === 'TargetReached' && (reason === 'Unschedulable' || reason === 'RolloutStuck');
  return isFailure || isFallback || isUnread || isConflict || isShort
    ? [{ type: 'Warning', reason, message }]
    : [];
}

function endOfFallback(old: Condition | undefined, { type, reason }: Condition): readonly TargetEvent[] {
  if (type !== 'ScalingActive' || old?.reason !== FALLBACK || reason === FALLBACK) return [];
  return [{ type: 'Normal', reason: 'FallbackEnded', message: 'no metric uses the fallback anymore' }];
}

/** While `ConflictingScaler` is reported, it is unknown whether the pause continues. */
function pauseEvents(old: Condition | undefined, condition: Condition): readonly TargetEvent[] {
  const { type, reason, message } = condition;
  if (type !== 'Held') return [];
  if (reason === 'Paused') return [{ type: 'Normal', reason: 'ScalingPaused', message }];
  if (old?.reason !== 'Paused' || reason === 'ConflictingScaler') return [];
  return [{ type: 'Normal', reason: 'ScalingResumed', message: 'scaling is no longer paused' }];
}
