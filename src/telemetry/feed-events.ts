import { conditionOf } from '../decision/result/condition.js';
import { isFailing } from '../decision/failing.js';
import { isSameOutcome, limitsOf, reasonOf, rescaleDirection } from './cycle-record.js';
import type { Outcome } from './cycle-record.js';
import type { ServiceEvent } from './event-feed.js';
import { describeFailure } from '../units/failure.js';
import { isQuiet, type LedgerEntry } from './ledger.js';

/**
 * Returns the events of a cycle for the event feed of the HTTP API: a change of replicas, a held change, and the start
 * or the end of a failure.
 */
export function eventsOfCycle(before: LedgerEntry | null, after: LedgerEntry): readonly ServiceEvent[] {
  const { scaler, record } = after;
  if (isQuiet(before, after)) return NO_EVENTS;
  const common = { at: record.at, namespace: scaler.namespace, name: scaler.name };
  const failures = [
    ...conditionFailures(before, after),
    ...changeFailures(before, after),
    ...metricFailures(before, after),
    ...endedMetrics(before, after),
    ...writerFailures(before, after),
  ].map((failure) => ({ ...common, type: 'failure' as const, ...failure }));
  if (!isDecisionEvent(before?.record.outcome, record.outcome)) return failures;
  const limits = limitsOf(record).map(({ limit }) => limit);
  const { outcome } = record;
  return [{ ...common, type: 'decision', outcome, reason: reasonOf(record), limits }, ...failures];
}

const NO_EVENTS: readonly ServiceEvent[] = [];

/**
 * Returns whether a decision is an event. A held change is reported once, not in every cycle. A failed change is
 * reported as a failure.
 */
function isDecisionEvent(before: Outcome | undefined, outcome: Outcome): boolean {
  if (rescaleDirection(outcome) !== null) return true;
  const { kind, from, to } = outcome;
  return kind !== 'none' && kind !== 'failed' && from !== to && !isSameOutcome(before, outcome);
}

type FailureEvent = Pick<
  Extract<ServiceEvent, { readonly type: 'failure' }>,
  'subject' | 'failing' | 'message'
>;

function conditionFailures(before: LedgerEntry | null, after: LedgerEntry): readonly FailureEvent[] {
  return after.conditions.flatMap((condition) => {
    const old = conditionOf(before?.conditions ?? [], condition.type);
    const wasFailing = old !== undefined && isFailing(old);
    const failing = isFailing(condition);
    if (failing === wasFailing && (!failing || old?.reason === condition.reason)) return [];
    const { type, reason, message } = condition;
    return [{ subject: type, failing, message: message === '' ? reason : `${reason}: ${message}` }];
  });
}

/**
 * Returns whether a subject of a failure event still fails. The subject is a type of condition, a metric, or
 * `ConflictingWriter`.
 */
export function isSubjectFailing(entry: LedgerEntry, subject: string): boolean {
  const condition = entry.conditions.find(({ type }) => type === subject);
  if (condition !== undefined) return isFailing(condition);
  if (subject === 'ConflictingWriter') return entry.record.conflictingWriter !== undefined;
  return (entry.metricErrors.get(subject) ?? null) !== null;
}

function changeFailures(before: LedgerEntry | null, { record }: LedgerEntry): readonly FailureEvent[] {
  const wasFailed = before?.record.outcome.kind === 'failed';
  const { kind, message } = record.outcome;
  return kind === 'failed' && !wasFailed ? [{ subject: 'change', failing: true, message }] : [];
}

function writerFailures(before: LedgerEntry | null, { record }: LedgerEntry): readonly FailureEvent[] {
  const [old, now] = [before?.record.conflictingWriter, record.conflictingWriter];
  if ((old === undefined) === (now === undefined)) return [];
  const message = now?.message ?? 'no other writer changes spec.replicas anymore';
  return [{ subject: 'ConflictingWriter', failing: now !== undefined, message }];
}

/** Returns the end of failures whose metric the document no longer has, or has with another query. */
function endedMetrics(before: LedgerEntry | null, { metricErrors }: LedgerEntry): readonly FailureEvent[] {
  if (before === null || before.metricErrors === metricErrors) return [];
  return [...before.metricErrors].flatMap(([subject, error]) =>
    error === null || metricErrors.has(subject)
      ? []
      : [{ subject, failing: false, message: 'the document has changed' }],
  );
}

function metricFailures(before: LedgerEntry | null, after: LedgerEntry): readonly FailureEvent[] {
  return [...after.metricErrors].flatMap(([subject, error]) => {
    const wasFailing = (before?.metricErrors.get(subject) ?? null) !== null;
    if ((error !== null) === wasFailing) return [];
    const message = error === null ? 'the metric has a value again' : describeFailure(error);
    return [{ subject, failing: error !== null, message }];
  });
}
