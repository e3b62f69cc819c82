import type {
  Condition,
  ConditionType,
  Decision,
  LimitStep,
  MetricResult,
  PastDecision,
} from '../decision/result/decision.js';
import { scalerKey } from '../scaler/spec.js';
import type { MetricSpec, Scaler } from '../scaler/spec.js';
import type { Instant } from '../units/time.js';
import { type Agreement, agreementAfter } from './agreement.js';
import type { CycleRecord, Direction, Outcome } from './cycle-record.js';
import { rescaleDirection } from './cycle-record.js';

/** `lastTransition`: last change of the status. */
export interface TimedCondition extends Condition {
  readonly lastTransition: Instant;
}

/** One or more consecutive cycles with the same result. Values are from the last one. */
export interface HistoryEntry {
  readonly firstAt: Instant;
  readonly lastAt: Instant;
  /** Number of cycles, at least 1. */
  readonly count: number;
  /** Without `state`, which only the newest record has. */
  readonly decision: PastDecision | null;
  readonly outcome: Outcome;
  readonly conditions: readonly Condition[];
}

export interface ScalerStatus {
  /** `NAMESPACE/NAME`. */
  readonly key: string;
  readonly scaler: Scaler;
  readonly record: CycleRecord;
  /** One per type that was ever set, in the order of `CONDITION_ORDER`. */
  readonly conditions: readonly TimedCondition[];
  /** Error by `TYPE/IDENTITY`; null: the metric has a value. A cycle without queries keeps the previous results. */
  readonly metricErrors: ReadonlyMap<string, string | null>;
  /** Changes since this process started. */
  readonly rescales: Readonly<Record<Direction, number>>;
  /** Includes stored changes of earlier processes; null: unknown. */
  readonly lastRescale: Readonly<Record<Direction, Instant | null>>;
  /** Null: no cycle was compared with an HPA. */
  readonly agreement: Agreement | null;
  /** Newest first. */
  readonly history: readonly HistoryEntry[];
}

/** The last decisions of each scaler: one complete record, and older ones without snapshot and state. */
export interface Ledger {
  /** Returns the status before (null: first record) and after. */
  readonly add: (record: CycleRecord) => {
    readonly before: ScalerStatus | null;
    readonly after: ScalerStatus;
  };
  readonly remove: (key: string) => void;
  readonly get: (key: string) => ScalerStatus | null;
  /** In the order of their first records. */
  readonly list: () => Iterable<ScalerStatus>;
}

interface LedgerLimits {
  /** Entries per scaler, at least 1; default: 100. */
  readonly perScaler?: number;
  /** Entries of all scalers, in equal shares of at least 5; default: 50,000. */
  readonly total?: number;
}

const MIN_PER_SCALER = 5;
const CONDITION_ORDER: readonly ConditionType[] = [
  'AbleToScale',
  'ScalingActive',
  'ScalingLimited',
  'Held',
  'TargetReached',
  'MetricsUnique',
];

export function createLedger(limits: LedgerLimits = {}): Ledger {
  const { perScaler = 100, total = 50_000 } = limits;
  const statuses = new Map<string, ScalerStatus>();
  const room = (): number =>
    Math.min(perScaler, Math.max(MIN_PER_SCALER, Math.floor(total / Math.max(1, statuses.size))));
  return {
    add: (record) => {
      const key = scalerKey(record.scaler);
      const before = statuses.get(key) ?? null;
      const after = nextStatus(before, record, room());
      statuses.set(key, after);
      return { before, after };
    },
    remove: (key) => void statuses.delete(key),
    get: (key) => statuses.get(key) ?? null,
    list: () => statuses.values(),
  };
}

function nextStatus(before: ScalerStatus | null, record: CycleRecord, room: number): ScalerStatus {
  const direction = rescaleDirection(record.outcome);
  const rescales = before?.rescales ?? { up: 0, down: 0 };
  return {
    key: scalerKey(record.scaler),
    scaler: record.scaler,
    record,
    conditions: mergeConditions(before?.conditions ?? [], record),
    metricErrors: metricErrorsAfter(before, record),
    rescales: direction === null ? rescales : { ...rescales, [direction]: rescales[direction] + 1 },
    lastRescale: lastRescaleOf(before, record),
    agreement: agreementAfter(before, record),
    history: addToHistory(before?.history ?? [], record, room),
  };
}

/** The state of the snapshot is not used: after a restart, its times may be assumptions. */
function lastRescaleOf(before: ScalerStatus | null, record: CycleRecord): ScalerStatus['lastRescale'] {
  const known = before?.lastRescale ?? { up: null, down: null };
  const direction = rescaleDirection(record.outcome);
  const next = record.lastScales ?? (direction === null ? known : { ...known, [direction]: record.at });
  // Returns the same object without a change, because readers compare by identity.
  return next.up === known.up && next.down === known.down ? known : next;
}

/**
 * A short cut or a cycle without a decision queries no metric and keeps the last results. Results are in the order of
 * the document.
 */
function metricErrorsAfter(before: ScalerStatus | null, record: CycleRecord): ScalerStatus['metricErrors'] {
  const known = before?.metricErrors ?? NO_ERRORS;
  const results = record.decision?.metrics ?? [];
  if (results.length === 0) return known;
  const { metrics } = record.scaler.spec;
  if (before?.scaler === record.scaler && haveErrors(metrics, results, known)) return known;
  return new Map(metrics.map((spec, index) => [nameOf(spec), results[index]?.error ?? null]));
}

function haveErrors(
  metrics: readonly MetricSpec[],
  results: Decision['metrics'],
  known: ScalerStatus['metricErrors'],
): boolean {
  if (known.size !== metrics.length) return false;
  let index = 0;
  for (const spec of metrics) if (known.get(nameOf(spec)) !== (results[index++]?.error ?? null)) return false;
  return true;
}

const NO_ERRORS: ScalerStatus['metricErrors'] = new Map();

const names = new WeakMap<MetricSpec, string>();

function nameOf(spec: MetricSpec): string {
  const known = names.get(spec);
  if (known !== undefined) return known;
  const name = `${spec.type}/${spec.identity}`;
  names.set(spec, name);
  return name;
}

/**
 * As in Kubernetes, the transition time changes with the status, not with reason or message. Returns `before` if
 * nothing has changed, which saves memory and garbage collection.
 */
function mergeConditions(before: readonly TimedCondition[], record: CycleRecord): readonly TimedCondition[] {
  if (areStanding(before, record.conditions)) return before;
  const merged: TimedCondition[] = [];
  for (const type of CONDITION_ORDER) {
    const old = before.find((condition) => condition.type === type);
    const condition = record.conditions.findLast((one) => one.type === type);
    const next = condition === undefined ? old : timed(condition, old, record.at);
    if (next !== undefined) merged.push(next);
  }
  return merged;
}

/** Whether a cycle has changed no condition, as most cycles. */
function areStanding(before: readonly TimedCondition[], after: readonly Condition[]): boolean {
  for (const condition of after) {
    const old = conditionOf(before, condition.type);
    if (old === undefined || !isSameCondition(old, condition)) return false;
  }
  return true;
}

/** Undefined: there is none of this type. */
export function conditionOf<C extends Condition>(
  conditions: readonly C[],
  type: ConditionType,
): C | undefined {
  for (const condition of conditions) if (condition.type === type) return condition;
  return undefined;
}

function isSameCondition(a: Condition, b: Condition): boolean {
  return a.status === b.status && a.reason === b.reason && a.message === b.message;
}

function timed(condition: Condition, old: TimedCondition | undefined, at: Instant): TimedCondition {
  const { status } = condition;
  if (old !== undefined && isSameCondition(old, condition)) return old;
  return { ...condition, lastTransition: old?.status === status ? old.lastTransition : at };
}

function addToHistory(
  history: readonly HistoryEntry[],
  record: CycleRecord,
  room: number,
): readonly HistoryEntry[] {
  const entry: HistoryEntry = {
    firstAt: record.at,
    lastAt: record.at,
    count: 1,
    decision: record.decision === null ? null : withoutState(record.decision),
    outcome: record.outcome,
    conditions: record.conditions,
  };
  const [newest] = history;
  if (newest !== undefined && isSame(newest, entry))
    return history.with(0, { ...entry, firstAt: newest.firstAt, count: newest.count + 1 });
  return [entry, ...history.slice(0, room - 1)];
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

/** A change of replicas is always a separate entry. For metrics, only failures are compared, not values. */
function isSame(a: HistoryEntry, b: HistoryEntry): boolean {
  return (
    rescaleDirection(b.outcome) === null &&
    a.outcome.kind === b.outcome.kind &&
    haveSame(a.conditions, b.conditions, isSameState) &&
    areSameDecision(a.decision, b.decision)
  );
}

function areSameDecision(a: HistoryEntry['decision'], b: HistoryEntry['decision']): boolean {
  if (a === null || b === null) return a === b;
  return (
    a.currentReplicas === b.currentReplicas &&
    a.desiredReplicas === b.desiredReplicas &&
    haveSame(a.limits, b.limits, isSameLimit) &&
    haveSame(a.metrics, b.metrics, isSameFailure)
  );
}

function isSameState(x: Condition, y: Condition): boolean {
  return x === y || (x.type === y.type && x.status === y.status && x.reason === y.reason);
}

function isSameLimit(x: LimitStep, y: LimitStep): boolean {
  return x.limit === y.limit;
}

function isSameFailure(x: MetricResult, y: MetricResult): boolean {
  return x.name === y.name && (x.error === null) === (y.error === null);
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
