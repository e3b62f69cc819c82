import type { Condition } from '../decision/result/condition.js';
import type { Decision, LimitStep, MetricResult, PastDecision } from '../decision/result/decision.js';
import type { ScalerState } from '../decision/state.js';
import type { Instant } from '../units/time.js';
import { type CycleRecord, type Outcome, rescaleDirection } from './cycle-record.js';

/** One or more consecutive cycles with the same result. The values are those of the last cycle. */
export interface HistoryEntry {
  readonly firstAt: Instant;
  readonly lastAt: Instant;
  /** The number of cycles, at least 1. */
  readonly count: number;
  /** The decision without its `state`, which only the newest record has. */
  readonly decision: PastDecision | null;
  readonly outcome: Outcome;
  readonly conditions: readonly Condition[];
  /** The state after the last cycle. It does not include a rejected version of the document. */
  readonly state: ScalerState;
}

/** The facts that consecutive cycles with the same result share. */
export interface Run {
  readonly firstAt: Instant;
  /** The entries of earlier runs, newest first. */
  readonly ended: readonly HistoryEntry[];
}

/**
 * The last cycle of a run. `entryOf` builds its entry only on a read, because most cycles are replaced by the next one
 * before anyone reads them.
 */
export interface LastOfRun {
  readonly run: Run;
  /** The number of cycles in the run, at least 1. */
  readonly count: number;
  readonly record: CycleRecord;
  readonly state: ScalerState;
}

type Cycle = Pick<LastOfRun, 'record' | 'state'>;

/**
 * Returns the run of the last cycle if the new cycle has the same result, otherwise a new run. `maxEntries` is at least
 * 1.
 */
export function runAfter(last: LastOfRun | null, cycle: Cycle, maxEntries: number): Run {
  const firstAt = cycle.record.at;
  if (last === null) return { firstAt, ended: NO_ENTRIES };
  if (isSameResult(last, cycle)) return last.run;
  const { ended } = last.run;
  return {
    firstAt,
    ended: maxEntries === 1 ? NO_ENTRIES : [entryOf(last)].concat(ended.slice(0, maxEntries - 2)),
  };
}

const NO_ENTRIES: readonly HistoryEntry[] = [];

/** Returns all entries, newest first. */
export function entriesOf(last: LastOfRun): readonly HistoryEntry[] {
  return [entryOf(last), ...last.run.ended];
}

function entryOf({ run, count, record, state }: LastOfRun): HistoryEntry {
  const { at, decision, outcome, conditions } = record;
  return {
    firstAt: run.firstAt,
    lastAt: at,
    count,
    decision: decision === null ? null : withoutState(decision),
    outcome,
    conditions,
    state,
  };
}

function withoutState(decision: Decision): PastDecision {
  return {
    currentReplicas: decision.currentReplicas,
    desiredReplicas: decision.desiredReplicas,
    action: decision.action,
    reason: decision.reason,
    recommendedReplicas: decision.recommendedReplicas,
    minReplicas: decision.minReplicas,
    maxReplicas: decision.maxReplicas,
    metrics: decision.metrics,
    limits: decision.limits,
    conditions: decision.conditions,
  };
}

/**
 * Returns whether a cycle has the same result. A change of replicas is never the same result, so that it has its own
 * entry. The values of metrics are not compared, only whether they fail.
 */
function isSameResult({ record: a, state: before }: Cycle, { record: b, state }: Cycle): boolean {
  return (
    before.name === state.name &&
    rescaleDirection(b.outcome) === null &&
    a.outcome.kind === b.outcome.kind &&
    haveSameStates(a.conditions, b.conditions) &&
    isSameDecision(a.decision, b.decision)
  );
}

function isSameDecision(a: Decision | null, b: Decision | null): boolean {
  if (a === null || b === null) return a === b;
  return (
    a.currentReplicas === b.currentReplicas &&
    a.desiredReplicas === b.desiredReplicas &&
    haveSame(a.limits, b.limits, isSameLimit) &&
    haveSame(a.metrics, b.metrics, isSameFailure)
  );
}

/** Returns whether conditions differ at most in their messages and times. */
export function haveSameStates(a: readonly Condition[], b: readonly Condition[]): boolean {
  return a === b || haveSame(a, b, isSameState);
}

function isSameState(x: Condition, y: Condition): boolean {
  return x === y || (x.type === y.type && x.status === y.status && x.reason === y.reason);
}

function isSameLimit(a: LimitStep, b: LimitStep): boolean {
  return a.limit === b.limit;
}

function isSameFailure(a: MetricResult, b: MetricResult): boolean {
  return a.name === b.name && (a.error === null) === (b.error === null);
}

function haveSame<T>(a: readonly T[], b: readonly T[], isEqual: (x: T, y: T) => boolean): boolean {
  if (a.length !== b.length) return false;
  let index = 0;
  for (const x of a) {
    const y = b[index++];
    if (y === undefined || !isEqual(x, y)) return false;
  }
  return true;
}
