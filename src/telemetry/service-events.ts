import { limitsOf, reasonOf, rescaleDirection } from './cycle-record.js';
import type { Outcome } from './cycle-record.js';
import type { ServiceEvent } from './event-feed.js';
import type { ScalerStatus, TimedCondition } from './ledger.js';

/** What a cycle is worth telling to who watches: a change of replicas, one held back, something that fails or is back. */
export function eventsOfCycle(before: ScalerStatus | null, after: ScalerStatus): readonly ServiceEvent[] {
  const { scaler, record } = after;
  const about = { at: record.at, namespace: scaler.namespace, name: scaler.name };
  const failures = [
    ...conditionFailures(before, after),
    ...changeFailures(before, after),
    ...metricFailures(before, after),
    ...writerFailures(before, after),
  ].map((failure) => ({ ...about, type: 'failure' as const, ...failure }));
  if (!isWorthTelling(before?.record.outcome, record.outcome)) return failures;
  const limits = limitsOf(record).map(({ limit }) => limit);
  const { outcome } = record;
  return [{ ...about, type: 'decision', outcome, reason: reasonOf(record), limits }, ...failures];
}

/** A change that is held back is told once, not at every cycle; one that failed is a failure. */
function isWorthTelling(before: Outcome | undefined, { kind, from, to }: Outcome): boolean {
  if (rescaleDirection({ kind, from, to, message: '' }) !== null) return true;
  if (kind === 'none' || kind === 'failed' || from === to) return false;
  return before?.kind !== kind || before.from !== from || before.to !== to;
}

interface Failure {
  readonly subject: string;
  readonly failing: boolean;
  readonly message: string;
}

function conditionFailures(before: ScalerStatus | null, after: ScalerStatus): readonly Failure[] {
  return after.conditions.flatMap((condition) => {
    const old = before?.conditions.find(({ type }) => type === condition.type);
    const wasFailing = old !== undefined && isFailing(old);
    const failing = isFailing(condition);
    if (failing === wasFailing && (!failing || old?.reason === condition.reason)) return [];
    const { type, reason, message } = condition;
    return [{ subject: type, failing, message: message === '' ? reason : `${reason}: ${message}` }];
  });
}

/** Pods that start, and a rollout that a person has paused. */
const PASSING_SHORTFALLS: ReadonlySet<string> = new Set(['Starting', 'RolloutPaused']);

/** A forbidden window and a target at zero are what was asked for. */
function isFailing({ type, status, reason }: TimedCondition): boolean {
  if (type === 'TargetReached') return status === 'False' && !PASSING_SHORTFALLS.has(reason);
  if (type === 'MetricsUnique') return status === 'False';
  if (type !== 'AbleToScale' && type !== 'ScalingActive') return false;
  return status !== 'True' && !reason.startsWith('Backoff') && reason !== 'ScalingDisabled';
}

function changeFailures(before: ScalerStatus | null, { record }: ScalerStatus): readonly Failure[] {
  const wasFailed = before?.record.outcome.kind === 'failed';
  const { kind, message } = record.outcome;
  return kind === 'failed' && !wasFailed ? [{ subject: 'change', failing: true, message }] : [];
}

function writerFailures(before: ScalerStatus | null, { record }: ScalerStatus): readonly Failure[] {
  const [old, now] = [before?.record.conflictingWriter, record.conflictingWriter];
  if ((old === undefined) === (now === undefined)) return [];
  const message = now?.message ?? 'no other writer changes spec.replicas anymore';
  return [{ subject: 'ConflictingWriter', failing: now !== undefined, message }];
}

function metricFailures(before: ScalerStatus | null, after: ScalerStatus): readonly Failure[] {
  return [...after.metricErrors].flatMap(([subject, error]) => {
    const wasFailing = (before?.metricErrors.get(subject) ?? null) !== null;
    if ((error !== null) === wasFailing) return [];
    return [{ subject, failing: error !== null, message: error ?? 'the metric has a value again' }];
  });
}
