import type { Scaler } from '../scaler/spec.js';
import { isHeldBack, isSameOutcome, limitsOf, reasonOf, rescaleDirection } from './cycle-record.js';
import type { CycleRecord } from './cycle-record.js';
import { conditionOf } from './ledger.js';
import type { ScalerStatus, TimedCondition } from './ledger.js';
import type { Facts, Log } from '../units/log.js';

/** Reasons that a user causes intentionally. Other reasons are logged as warnings. */
const WANTED: ReadonlySet<string> = new Set(['ScalingDisabled', 'RolloutPaused']);
const WANTED_HOLDS: ReadonlySet<string> = new Set(['DryRun', 'Paused']);

/**
 * Logs what a cycle has changed: one line per change of replicas, per metric that fails or recovers, and per condition
 * that degrades or recovers. A cycle without such a change logs nothing at info or above.
 */
export function logCycle(log: Log, before: ScalerStatus | null, after: ScalerStatus): void {
  logOutcome(log, before, after.record);
  if (before?.metricErrors !== after.metricErrors) logMetrics(log, before, after);
  logWriter(log, before, after);
  // The ledger keeps the list as long as no condition changes.
  if (before?.conditions === after.conditions) return;
  for (const condition of after.conditions) {
    logCondition(log, {
      scaler: after.scaler,
      before: conditionOf(before?.conditions ?? [], condition.type),
      after: condition,
    });
  }
}

function logOutcome(log: Log, before: ScalerStatus | null, record: CycleRecord): void {
  const { outcome } = record;
  if (outcome.kind === 'none') return;
  const facts = outcomeFacts(record);
  if (rescaleDirection(outcome) !== null) log.info('replicas changed', facts);
  else if (outcome.kind === 'conflict')
    log.debug('target changed since the decision; nothing patched', facts);
  else if (outcome.kind === 'failed') log.debug('failed to change replicas', facts);
  else if (isHeldBack(outcome) && !isSameOutcome(before?.record.outcome, outcome)) {
    log.info('change held back', { ...facts, by: outcome.kind });
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

function logMetrics(log: Log, before: ScalerStatus | null, after: ScalerStatus): void {
  for (const [metric, error] of after.metricErrors) {
    const facts = { scaler: after.scaler.key, metric };
    const wasFailing = (before?.metricErrors.get(metric) ?? null) !== null;
    if (error !== null && !wasFailing) log.warn('metric has no value', { ...facts, error });
    if (error === null && wasFailing) log.info('metric has a value again', facts);
  }
}

function logWriter(log: Log, before: ScalerStatus | null, { scaler, record }: ScalerStatus): void {
  const old = before?.record.conflictingWriter;
  const now = record.conflictingWriter;
  if ((now === undefined) === (old === undefined)) return;
  const facts = { scaler: scaler.key };
  if (now !== undefined && old === undefined) {
    log.warn('another writer keeps changing spec.replicas', { ...facts, detail: now.message });
  }
  if (now === undefined && old !== undefined)
    log.info('no other writer changes spec.replicas anymore', facts);
}

function logCondition(
  log: Log,
  change: {
    readonly scaler: Scaler;
    readonly before: TimedCondition | undefined;
    readonly after: TimedCondition;
  },
): void {
  const { before, after } = change;
  const wasDegraded = before !== undefined && isDegraded(before);
  if (isDegraded(after) === wasDegraded && (!wasDegraded || before.reason === after.reason)) return;
  const facts = {
    scaler: change.scaler.key,
    condition: after.type,
    status: after.status,
    reason: after.reason,
    detail: after.message,
  };
  if (!isDegraded(after)) log.info('condition recovered', facts);
  else if (isWanted(after)) log.info('condition set', facts);
  else log.warn('condition degraded', facts);
}

function isDegraded({ type, status, reason }: TimedCondition): boolean {
  switch (type) {
    case 'AbleToScale':
    case 'ScalingActive':
    case 'MetricsUnique':
      return status !== 'True';
    case 'Held':
      return status === 'True';
    case 'ScalingLimited':
      return false;
    case 'TargetReached':
      return status === 'False' && reason !== 'Starting';
    default:
      return type satisfies never;
  }
}

function isWanted({ type, reason }: TimedCondition): boolean {
  return type === 'Held' ? WANTED_HOLDS.has(reason) : WANTED.has(reason);
}
