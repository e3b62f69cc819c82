import { isHeldBack, isSameOutcome, limitsOf, reasonOf, rescaleDirection } from './cycle-record.js';
import type { CycleRecord } from './cycle-record.js';
import { isMetricFailure } from '../decision/conditions.js';
import { isDegraded } from '../decision/failing.js';
import { conditionOf } from '../decision/result/condition.js';
import type { LedgerEntry, TimedCondition } from './ledger.js';
import { API_SERVER, dataSourceId } from './outages.js';
import type { Outages } from './outages.js';
import { describeFailure, type Failure } from '../units/failure.js';
import type { Facts, Log } from '../units/log.js';

/** Reasons that a user has caused on purpose. They are not logged as warnings. */
const WANTED: ReadonlySet<string> = new Set(['ScalingDisabled', 'RolloutPaused']);
/** Reasons of `AbleToScale` after a failed request to the API server. */
const API_FAILURES: ReadonlySet<string> = new Set(['FailedGetScale', 'FailedUpdateScale']);
const WANTED_HOLDS: ReadonlySet<string> = new Set(['DryRun', 'Paused']);

interface CycleLogPorts {
  readonly log: Log;
  readonly outages: Pick<Outages, 'attribute' | 'takeAttributed' | 'isAttributed'>;
}

/**
 * Logs what a cycle has changed: one line for each change of replicas, each metric that begins or stops failing, and
 * each condition that degrades or recovers. `ScalingActive` gets no line if the cause is such a metric. If nothing has
 * changed, nothing is logged at info or above. Failures and recoveries that an outage of a shared system explains are
 * not logged either.
 */
export function logCycle(ports: CycleLogPorts, before: LedgerEntry | null, after: LedgerEntry): void {
  const { log } = ports;
  logOutcome(log, before, after.record);
  if (before?.metricErrors !== after.metricErrors) logMetrics(ports, before, after);
  logWriter(log, before, after);
  // The ledger keeps the same list until a condition changes.
  if (before?.conditions === after.conditions) return;
  for (const condition of after.conditions) logCondition(ports, { before, after }, condition);
}

function logOutcome(log: Log, before: LedgerEntry | null, record: CycleRecord): void {
  const { outcome } = record;
  if (outcome.kind === 'none') return;
  const facts = outcomeFacts(record);
  if (rescaleDirection(outcome) !== null) log.info('replicas changed', facts);
  else if (outcome.kind === 'conflict')
    log.debug('target changed since the decision; nothing patched', facts);
  else if (outcome.kind === 'failed') log.debug('failed to change replicas', facts);
  else if (isHeldBack(outcome) && !isSameOutcome(before?.record.outcome, outcome)) {
    log.info('change held', { ...facts, by: outcome.kind });
  }
}

function outcomeFacts(record: CycleRecord): Facts {
  const { outcome, decision } = record;
  return {
    scaler: record.scaler.key,
    from: outcome.from,
    to: outcome.to,
    ...(decision === null
      ? {}
      : { reason: reasonOf(record), limits: limitsOf(record).map(({ limit }) => limit) }),
    ...(outcome.message === '' ? {} : { detail: outcome.message }),
  };
}

function logMetrics(ports: CycleLogPorts, before: LedgerEntry | null, after: LedgerEntry): void {
  const scaler = after.scaler.key;
  for (const [metric, error] of after.metricErrors) {
    const wasFailing = (before?.metricErrors.get(metric) ?? null) !== null;
    logFailure(ports, {
      scaler,
      subject: metric,
      isFailing: error !== null,
      isChanged: (error !== null) !== wasFailing,
      systems: sourcesOf(error),
      facts: { scaler, metric, ...queryFacts(error) },
      failed: {
        level: 'warn',
        message: 'metric has no value',
        error: error === null ? null : describeFailure(error),
      },
      recovered: 'metric has a value again',
    });
  }
  // A metric that the document no longer has, or whose query has changed, no longer fails.
  for (const [metric, error] of before?.metricErrors ?? [])
    if (error !== null && !after.metricErrors.has(metric)) ports.outages.takeAttributed(scaler, metric);
}

/** Returns the data source that did not answer a query; empty: the failure has another cause. */
function sourcesOf(failure: Failure | null): readonly string[] {
  return failure?.source === undefined ? [] : [dataSourceId(failure.source)];
}

function queryFacts(failure: Failure | null): Facts {
  return failure?.source === undefined ? {} : { source: failure.source, reason: failure.reason };
}

function logFailure(
  { log, outages }: CycleLogPorts,
  change: {
    readonly scaler: string;
    readonly subject: string;
    readonly isFailing: boolean;
    /** Whether the failure has begun, ended or changed its reason. */
    readonly isChanged: boolean;
    /** The systems that may be the cause; empty: only the scaler is affected. */
    readonly systems: readonly string[];
    readonly facts: Facts;
    readonly failed: {
      readonly level: 'info' | 'warn';
      readonly message: string;
      readonly error?: string | null;
    };
    readonly recovered: string;
  },
): void {
  const { scaler, subject, systems, facts, failed } = change;
  if (!change.isFailing) {
    const wasAttributed = outages.takeAttributed(scaler, subject);
    if (change.isChanged) log[wasAttributed ? 'debug' : 'info'](change.recovered, facts);
    return;
  }
  const wasAttributed = outages.isAttributed(scaler, subject);
  // A failure that remains after an outage belongs to the scaler. It is logged although it has not begun in this cycle.
  if (!change.isChanged && !(wasAttributed && systems.length === 0)) return;
  if (wasAttributed) outages.takeAttributed(scaler, subject);
  const all = failed.error === undefined ? facts : { ...facts, error: failed.error };
  outages.attribute({ scaler, subject, systems }, (isOwn) => {
    if (isOwn) log[failed.level](failed.message, all);
    else log.debug(failed.message, all);
  });
}

function logWriter(log: Log, before: LedgerEntry | null, { scaler, record }: LedgerEntry): void {
  const old = before?.record.conflictingWriter;
  const now = record.conflictingWriter;
  if ((now === undefined) === (old === undefined)) return;
  const facts = { scaler: scaler.key };
  if (now === undefined) log.info('no other writer changes spec.replicas anymore', facts);
  else log.warn('another writer keeps changing spec.replicas', { ...facts, detail: now.message });
}

function logCondition(
  ports: CycleLogPorts,
  { before, after }: { readonly before: LedgerEntry | null; readonly after: LedgerEntry },
  condition: TimedCondition,
): void {
  const { type, status, reason, message } = condition;
  const old = conditionOf(before?.conditions ?? [], type);
  const wasFailing =
    before !== null && old !== undefined && isDegraded(old) && !isOfLoggedMetric(before, old);
  const isOfMetric = isOfLoggedMetric(after, condition);
  const isFailing = isDegraded(condition) && !isOfMetric;
  const isWantedNow = isWanted(condition);
  const scaler = after.key;
  logFailure(ports, {
    scaler,
    subject: type,
    isFailing,
    isChanged: !isOfMetric && (isFailing !== wasFailing || (wasFailing && old.reason !== reason)),
    systems: isWantedNow ? [] : systemsOf(after.record, condition),
    facts: { scaler, condition: type, status, reason, detail: message },
    failed: isWantedNow
      ? { level: 'info', message: 'condition set' }
      : { level: 'warn', message: 'condition degraded' },
    recovered: status === 'Unknown' ? 'condition unknown' : 'condition recovered',
  });
}

/**
 * Returns whether the log already has `metric has no value` for the failure of a condition. False if the target was
 * never read.
 */
function isOfLoggedMetric({ metricErrors }: LedgerEntry, { reason }: TimedCondition): boolean {
  return isMetricFailure(reason) && [...metricErrors.values()].some((error) => error !== null);
}

/** Returns the systems whose outage would explain a condition; empty: the condition has another cause. */
function systemsOf(record: CycleRecord, { type, reason }: TimedCondition): readonly string[] {
  if (type === 'AbleToScale') return API_FAILURES.has(reason) ? [API_SERVER] : [];
  if (type !== 'ScalingActive' || !isMetricFailure(reason)) return [];
  // The target could not be read either, so the record has no answers. Any data source of the scaler may be the cause.
  return [...new Set(record.scaler.spec.metrics.map(({ source }) => dataSourceId(source)))];
}

function isWanted({ type, reason }: TimedCondition): boolean {
  return type === 'Held' ? WANTED_HOLDS.has(reason) : WANTED.has(reason);
}
