import { metricKey } from '../decision/snapshot/snapshot.js';
import { CONDITION_TYPES, conditionOf, type Condition } from '../decision/result/condition.js';
import type { RejectedVersion } from '../decision/rejection.js';
import { NOT_EVALUATED } from '../decision/conditions.js';
import type { Decision } from '../decision/result/decision.js';
import { stateOf, type ScalerState } from '../decision/state.js';
import type { Scaler } from '../scaler/spec.js';
import { type Failure, isSameFailure } from '../units/failure.js';
import { earliest, type Instant } from '../units/time.js';
import {
  type Agreement,
  agreementAfter,
  isSameSpec,
  type CycleRecord,
  type Direction,
  rescaleDirection,
} from './cycle-record.js';
import { entriesOf, runAfter } from './history.js';
import type { HistoryEntry, LastOfRun, Run } from './history.js';
import type { Recommendation } from './recommendation.js';

/** A condition, with the time when its status last changed. */
export interface TimedCondition extends Condition {
  readonly lastTransition: Instant;
}

export interface LedgerEntry {
  /** The scaler as `NAMESPACE/NAME`. */
  readonly key: string;
  readonly scaler: Scaler;
  readonly record: CycleRecord;
  /**
   * The last condition of each type that was ever set, in the order of `CONDITION_TYPES`. `ForecastUseful` is present
   * only while it is true.
   */
  readonly conditions: readonly TimedCondition[];
  /** The state for the version of the document that the cycle used. */
  readonly state: ScalerState;
  /**
   * The state that outputs show: `Rejected` while the newest version of the document is rejected and no other state
   * takes precedence, otherwise `state`.
   */
  readonly shownState: ScalerState;
  /** When `shownState` last began, in this process or in an earlier process that has stored the time. */
  readonly stateSince: Instant;
  /**
   * Why each metric has no value, by `TYPE/IDENTITY`; null: it has a value. A cycle without queries keeps the previous
   * results.
   */
  readonly metricErrors: ReadonlyMap<string, Failure | null>;
  /** How often the replicas have changed since this process started. */
  readonly rescales: Readonly<Record<Direction, number>>;
  /** When the replicas last changed, including changes that earlier processes have stored; null: unknown. */
  readonly lastRescale: Readonly<Record<Direction, Instant | null>>;
  /** The comparison with an HPA; null: no cycle was compared. */
  readonly agreement: Agreement | null;
  /** The recommendation for this version of the document; null: this version was not back-tested. */
  readonly recommendation: Recommendation | null;
  /** How many consecutive cycles had the result of `record`, at least 1. */
  readonly count: number;
  /** The entries, newest first. Each access builds the list. */
  readonly history: readonly HistoryEntry[];
}

/**
 * Returns whether a cycle has nothing for the event feed and Kubernetes Events: no change, and no new condition, error
 * or writer. That is the usual case. Lists are compared by identity, because the ledger keeps a list until its content
 * changes.
 */
export function isQuiet(before: LedgerEntry | null, after: LedgerEntry): boolean {
  return (
    before !== null &&
    after.record.outcome.kind === 'none' &&
    after.conditions === before.conditions &&
    after.metricErrors === before.metricErrors &&
    (after.record.conflictingWriter === undefined) === (before.record.conflictingWriter === undefined)
  );
}

/** Times that an earlier process has stored in the status of a Scaler object. */
export interface EarlierTimes {
  readonly state: string;
  readonly stateSince: Instant;
  readonly conditions: readonly (Pick<TimedCondition, 'status' | 'lastTransition'> & {
    readonly type: string;
  })[];
}

/**
 * The last decisions of each scaler. The newest decision is a complete record; older decisions have neither snapshot
 * nor state.
 */
export interface Ledger {
  /** Adds a record. Returns the entry before it (null: there is none) and after it. */
  readonly add: (record: CycleRecord) => {
    readonly before: LedgerEntry | null;
    readonly after: LedgerEntry;
  };
  /**
   * Sets the documents whose newest version is rejected, by `NAMESPACE/NAME`. `at` is when the rejections were found.
   */
  readonly setRejections: (rejections: ReadonlyMap<string, RejectedVersion>, at: Instant) => void;
  /** Returns since when the newest version of a document has been rejected; null: it is not rejected. */
  readonly rejectedSince: (key: string) => Instant | null;
  /** Keeps a recommendation until the document changes. Returns false if the document has already changed. */
  readonly keepRecommendation: (scaler: Scaler, recommendation: Recommendation) => boolean;
  readonly remove: (key: string) => void;
  readonly get: (key: string) => LedgerEntry | null;
  /** Returns the entries in the order in which their scalers were added. */
  readonly list: () => Iterable<LedgerEntry>;
}

interface LedgerOptions {
  /** Maximum number of entries per scaler, at least 1. Default: 100. */
  readonly perScaler?: number;
  /**
   * Returns the times that an earlier process has stored for `NAMESPACE/NAME`. It is called with the first record of a
   * scaler, and when its document is first rejected. Default: none are known.
   */
  readonly earlierTimes?: (key: string) => EarlierTimes | null;
  /** Maximum number of entries of all scalers. They share it equally, but each may have at least 5. Default: 50,000. */
  readonly total?: number;
}

const MIN_PER_SCALER = 5;
export function createLedger(options: LedgerOptions = {}): Ledger {
  const { perScaler = 100, total = 50_000, earlierTimes = () => null } = options;
  const entries = new Map<string, Entry>();
  let rejections: ReadonlyMap<string, RejectedVersion> = new Map();
  let rejectedAt: ReadonlyMap<string, Instant> = new Map();
  const maxEntries = (): number =>
    Math.min(perScaler, Math.max(MIN_PER_SCALER, Math.floor(total / Math.max(1, entries.size))));
  return {
    add: (record) => {
      const { key } = record.scaler;
      const before = entries.get(key) ?? null;
      const earlier = before === null ? earlierTimes(key) : null;
      const rejection = rejections.get(key) ?? null;
      const given = { record, earlier, rejection, maxEntries: maxEntries() };
      const after = new Entry(before?.key ?? key, before, given);
      entries.set(after.key, after);
      return { before, after };
    },
    setRejections: (next, at) => {
      for (const key of new Set([...rejections.keys(), ...next.keys()])) {
        const entry = entries.get(key);
        if (entry === undefined) continue;
        const before = shownOf(entry);
        entry.shownState = stateWith(entry, next.get(key) ?? null);
        entry.stateSince = stateBegan(entry.shownState, before, at);
      }
      rejections = next;
      const since = (key: string): Instant => rejectedAt.get(key) ?? rejectedBefore(earlierTimes(key)) ?? at;
      rejectedAt = new Map([...next.keys()].map((key) => [key, since(key)]));
    },
    rejectedSince: (key) => rejectedAt.get(key) ?? null,
    keepRecommendation: (scaler, recommendation) => {
      const entry = entries.get(scaler.key);
      if (entry?.scaler !== scaler) return false;
      entry.recommendation = recommendation;
      return true;
    },
    remove: (key) => void entries.delete(key),
    get: (key) => entries.get(key) ?? null,
    list: () => entries.values(),
  };
}

type KnownState = Pick<EarlierTimes, 'state' | 'stateSince'>;

function shownOf({ shownState, stateSince }: LedgerEntry): KnownState {
  return { state: shownState.name, stateSince };
}

/** Returns since when a scaler has had a state: since before if `known` is the same state, otherwise since `at`. */
export function stateBegan({ name }: ScalerState, known: KnownState | null, at: Instant): Instant {
  return known?.state === name ? known.stateSince : at;
}

/** Returns since when an earlier process has rejected the newest version of a document; null: it has not. */
function rejectedBefore(earlier: EarlierTimes | null): Instant | null {
  return earlier?.state === 'Invalid' || earlier?.state === 'Rejected' ? earlier.stateSince : null;
}

/** Returns the state that outputs show: the state of the last cycle, unless a rejection takes precedence. */
function stateWith(
  { record, conditions, state }: Pick<LedgerEntry, 'record' | 'conditions' | 'state'>,
  rejection: RejectedVersion | null,
): ScalerState {
  return rejection === null ? state : stateOf({ ...record, conditions }, rejection);
}

/** A class for speed and memory: each cycle creates an instance, and the getters of a class take no memory in it. */
class Entry implements LedgerEntry, LastOfRun {
  readonly key: string;
  readonly scaler: Scaler;
  readonly record: CycleRecord;
  readonly conditions: readonly TimedCondition[];
  readonly state: ScalerState;
  shownState: ScalerState;
  stateSince: Instant;
  readonly metricErrors: LedgerEntry['metricErrors'];
  readonly hasErrors: boolean;
  readonly rescales: LedgerEntry['rescales'];
  readonly lastRescale: LedgerEntry['lastRescale'];
  readonly agreement: Agreement | null;
  recommendation: Recommendation | null;
  readonly run: Run;
  readonly count: number;

  constructor(
    key: string,
    before: Entry | null,
    {
      record,
      earlier,
      rejection,
      maxEntries,
    }: {
      readonly record: CycleRecord;
      readonly earlier: EarlierTimes | null;
      readonly rejection: RejectedVersion | null;
      readonly maxEntries: number;
    },
  ) {
    this.key = key;
    this.scaler = record.scaler;
    this.record = record;
    const isNewSpec = before !== null && !isSameSpec(before.scaler, record.scaler);
    const results = isNewSpec
      ? withoutOutdated(before.conditions, record)
      : (before?.conditions ?? earlierConditions(record, earlier));
    this.conditions =
      before?.record.conditions === record.conditions && !isNewSpec
        ? before.conditions
        : mergeConditions(results, record);
    this.state = stateOf({ ...record, conditions: this.conditions }, null);
    this.shownState = stateWith(this, rejection);
    this.stateSince =
      before === null
        ? earliest(stateBegan(this.shownState, earlier, record.at), record.at)
        : stateBegan(this.shownState, shownOf(before), record.at);
    this.metricErrors = metricErrorsAfter(before, record, isNewSpec);
    this.hasErrors =
      before?.metricErrors === this.metricErrors ? before.hasErrors : hasError(this.metricErrors);
    this.rescales = rescalesAfter(before?.rescales ?? NO_RESCALES, record);
    this.lastRescale = lastRescaleOf(before, record);
    this.agreement = agreementAfter(before, record);
    this.recommendation = before?.scaler === record.scaler ? before.recommendation : null;
    this.run = runAfter(before, this, maxEntries);
    this.count = this.run === before?.run ? before.count + 1 : 1;
  }

  get history(): readonly HistoryEntry[] {
    return entriesOf(this);
  }
}

/**
 * Returns the conditions of a first record whose status equals the status that an earlier process stored. They have the
 * stored times.
 */
function earlierConditions(
  { conditions, at }: CycleRecord,
  earlier: EarlierTimes | null,
): readonly TimedCondition[] {
  return conditions.flatMap((condition) => {
    const old = earlier?.conditions.find(({ type }) => type === condition.type);
    return old?.status === condition.status
      ? [{ ...condition, lastTransition: earliest(old.lastTransition, at) }]
      : [];
  });
}

const NO_RESCALES: LedgerEntry['rescales'] = { up: 0, down: 0 };

function rescalesAfter(before: LedgerEntry['rescales'], { outcome }: CycleRecord): LedgerEntry['rescales'] {
  const direction = rescaleDirection(outcome);
  return direction === null ? before : { ...before, [direction]: before[direction] + 1 };
}

/**
 * Returns when the replicas last changed. The times in the snapshot's state are not used, because they may be
 * assumptions after a restart.
 */
function lastRescaleOf(before: LedgerEntry | null, record: CycleRecord): LedgerEntry['lastRescale'] {
  const known = before?.lastRescale ?? { up: null, down: null };
  const direction = rescaleDirection(record.outcome);
  const next = record.lastScales ?? (direction === null ? known : { ...known, [direction]: record.at });
  // The object is unchanged if nothing has changed, because readers compare it by identity.
  return next.up === known.up && next.down === known.down ? known : next;
}

/**
 * Returns why each metric has no value. If the cycle has queried no metric, the last results are kept as long as the
 * spec is the same. Results are in the order of the document.
 */
function metricErrorsAfter(
  before: Entry | null,
  record: CycleRecord,
  isNewSpec: boolean,
): LedgerEntry['metricErrors'] {
  const known = isNewSpec ? NO_ERRORS : (before?.metricErrors ?? NO_ERRORS);
  const results = record.decision?.metrics ?? [];
  if (results.length === 0) return known;
  const { metrics } = record.scaler.spec;
  const isSameDocument = before?.scaler === record.scaler && known.size === metrics.length;
  if (isSameDocument && !before.hasErrors && !haveErrors(results)) return known;
  const errors = new Map(metrics.map((metric, index) => [metricKey(metric), results[index]?.error ?? null]));
  return isSameDocument && haveSameErrors(known, errors) ? known : errors;
}

function haveErrors(results: Decision['metrics']): boolean {
  for (const { error } of results) if (error !== null) return true;
  return false;
}

function hasError(errors: LedgerEntry['metricErrors']): boolean {
  for (const error of errors.values()) if (error !== null) return true;
  return false;
}

function haveSameErrors(a: LedgerEntry['metricErrors'], b: LedgerEntry['metricErrors']): boolean {
  for (const [metric, error] of b) if (!isSameFailure(a.get(metric) ?? null, error)) return false;
  return true;
}

const NO_ERRORS: LedgerEntry['metricErrors'] = new Map();

/**
 * Sets the conditions about metrics and limits to `NotEvaluated` unless the record has them, because the new spec may
 * have other metrics and limits.
 */
function withoutOutdated(
  before: readonly TimedCondition[],
  { conditions, at }: CycleRecord,
): readonly TimedCondition[] {
  return before.map((condition) => {
    const unknown = NOT_EVALUATED.find(({ type }) => type === condition.type);
    if (unknown === undefined || conditionOf(conditions, condition.type) !== undefined) return condition;
    return { ...unknown, lastTransition: at };
  });
}

/**
 * Adds the conditions of a record. As in Kubernetes, the transition time changes with the status, not with the reason
 * or message. If nothing has changed, returns `known` itself, which saves memory and garbage collection.
 */
function mergeConditions(known: readonly TimedCondition[], record: CycleRecord): readonly TimedCondition[] {
  const before = withoutEnded(known, record);
  if (areStanding(before, record.conditions)) return before;
  const merged: TimedCondition[] = [];
  for (const type of CONDITION_TYPES) {
    const old = before.find((condition) => condition.type === type);
    const condition = record.conditions.findLast((one) => one.type === type);
    const next = condition === undefined ? old : timed(condition, old, record.at);
    if (next !== undefined) merged.push(next);
  }
  return merged;
}

/**
 * Removes conditions that a decision no longer has. Every decision says whether a forecast is useful, and a target that
 * does not exist has no forecast. A target that was set to 0 replicas has no recommendation that could be limited.
 */
function withoutEnded(
  known: readonly TimedCondition[],
  { decision, conditions }: CycleRecord,
): readonly TimedCondition[] {
  const isMissing = conditionOf(conditions, 'TargetReached')?.reason === 'NotEvaluated';
  if (decision === null && !isMissing) return known;
  const isDisabled = conditionOf(conditions, 'ScalingActive')?.reason === 'ScalingDisabled';
  const isEnded = ({ type }: Condition): boolean =>
    (type === 'ForecastUseful' || (isDisabled && type === 'ScalingLimited')) &&
    conditionOf(conditions, type) === undefined;
  return known.some(isEnded) ? known.filter((one) => !isEnded(one)) : known;
}

function areStanding(before: readonly TimedCondition[], after: readonly Condition[]): boolean {
  for (const condition of after) {
    const old = conditionOf(before, condition.type);
    if (old === undefined || !isSameCondition(old, condition)) return false;
  }
  return true;
}

function isSameCondition(a: Condition, b: Condition): boolean {
  return a.status === b.status && a.reason === b.reason && a.message === b.message;
}

function timed(condition: Condition, old: TimedCondition | undefined, at: Instant): TimedCondition {
  const { status } = condition;
  if (old !== undefined && isSameCondition(old, condition)) return old;
  return { ...condition, lastTransition: old?.status === status ? old.lastTransition : at };
}
