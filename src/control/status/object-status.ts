import type { ObjectVerdict } from '../../config/read-objects.js';
import { CONDITION_TYPES, conditionOf } from '../../decision/result/condition.js';
import { cannotScale } from '../../decision/failing.js';
import type { MetricResult } from '../../decision/result/decision.js';
import { problemLine, rejectionOf } from '../../decision/rejection.js';
import { stateOf } from '../../decision/state.js';
import { textIn, type JsonObject } from '../../kubernetes/api/json.js';
import type { ScalerObject } from '../../kubernetes/scaler-objects.js';
import type { Problem } from '../../scaler/problems/problem.js';
import type { MetricSpec } from '../../scaler/spec.js';
import { boundsOf, desiredReplicasOf, reasonOf } from '../../telemetry/cycle-record.js';
import { type LedgerEntry, stateBegan } from '../../telemetry/ledger.js';
import { currentValue, currentValues, targetValue } from '../../telemetry/scaler-series.js';
import { cleanText } from '../../units/clean-text.js';
import { formatAmount } from '../../units/format.js';
import { formatSecond, type Instant, latest, parseInstant } from '../../units/time.js';
import {
  earlierTimes,
  storedConditions,
  storedNumbers,
  storedState,
  type ObjectStatus,
  type StatusNumbers,
  type StatusState,
  type StatusCondition,
  type NewCondition,
} from './stored-status.js';

export interface StatusInput {
  readonly object: ScalerObject;
  readonly verdict: ObjectVerdict;
  /** The result of the last cycle of this process; null: there was none. */
  readonly last: LedgerEntry | null;
  /** Since when the newest version has been rejected; null, the default: unknown. */
  readonly rejectedSince?: Instant | null;
  readonly now: Instant;
}

const MAX_MESSAGE_LENGTH = 1024;

const CYCLE_CONDITIONS: ReadonlySet<string> = new Set(CONDITION_TYPES);

/**
 * Returns the wanted status of an object. A condition keeps the stored `lastTransitionTime` until its status changes,
 * so that a restart does not reset it. Until the first cycle of this process, the stored results of an earlier process
 * are kept, unless no version of the document is in effect.
 */
export function buildObjectStatus({
  object,
  verdict,
  last,
  rejectedSince = null,
  now,
}: StatusInput): ObjectStatus {
  const { generation: observedGeneration, status: stored } = object;
  const acceptance = { ...accepted(verdict), observedGeneration };
  const { conditions: decided, numbers } = cycleResult(verdict.scaler === null ? 'nothing' : last, stored);
  const isCurrent = acceptance.status === 'False' || last?.record.scaler === verdict.scaler;
  const before = storedConditions(stored);
  const about = decided.map((condition) =>
    acceptance.status === 'True' && isCurrent
      ? { ...condition, observedGeneration }
      : // Keeps the stored observedGeneration: `kubectl wait` treats a condition without it as current.
        { ...generationOf(before, condition), ...condition },
  );
  const state = stateIn({ object, verdict, last, rejectedSince, now });
  const storedReady = before.find(({ type }) => type === 'Ready');
  const ready =
    isCurrent || storedReady === undefined
      ? { ...readyOf(acceptance, decided, last, state.state), observedGeneration }
      : // Keeps the stored `Ready`, which is about the previous document: clients wait for the new document.
        storedReady;
  const own = [acceptance, ...about, ready];
  const foreign = before.filter(
    ({ type }) => !CYCLE_CONDITIONS.has(type) && own.every((one) => one.type !== type),
  );
  return {
    observedGeneration,
    ...state,
    ...withoutEarlier(numbers, object),
    conditions: [
      ...own.map((condition) =>
        timed(truncate(condition), before, sinceIn(object, sinceOf(condition, last) ?? now)),
      ),
      ...foreign,
    ],
  };
}

/**
 * Returns `since`, or the creation of the object if that is later: the ledger may have times of an earlier object with
 * the same name.
 */
function sinceIn({ createdAt }: ScalerObject, since: Instant): Instant {
  return createdAt === null ? since : latest(createdAt, since);
}

/**
 * Removes a `lastScaleTime` before the creation of the object, because it belongs to an earlier object with the same
 * name.
 */
function withoutEarlier(
  { lastScaleTime, ...others }: StatusNumbers,
  { createdAt }: ScalerObject,
): StatusNumbers {
  const at = lastScaleTime === undefined ? null : parseInstant(lastScaleTime);
  if (lastScaleTime === undefined || (at !== null && createdAt !== null && at < createdAt)) return others;
  return { ...others, lastScaleTime };
}

/**
 * Returns the state. The stored state is kept until the first cycle of this process, unless the document is rejected.
 */
function stateIn({ object, verdict, last, rejectedSince, now }: Required<StatusInput>): StatusState {
  const { status } = object;
  const stored = storedState(status);
  const rejection = rejectionOf(verdict.problems);
  if (verdict.scaler !== null && last === null && rejection === null && stored.state !== undefined)
    return stored;
  // If a file takes precedence over this object, the object shows the state of the scaler in the file.
  const cycle = verdict.scaler !== null || rejection?.isUnusedObject === true ? last : null;
  const state = cycle?.shownState ?? stateOf(null, rejection);
  const since = cycle?.stateSince ?? rejectedSince ?? stateBegan(state, earlierTimes(status), now);
  return {
    state: state.name,
    stateSince: formatSecond(sinceIn(object, since)),
    ...(state.cause === null ? {} : { cause: truncated(cleanText(state.cause)) }),
  };
}

function cycleResult(
  last: LedgerEntry | null | 'nothing',
  stored: JsonObject | null,
): { readonly conditions: readonly NewCondition[]; readonly numbers: StatusNumbers } {
  if (last === 'nothing') return { conditions: [], numbers: scaledAt(textIn(stored, 'lastScaleTime')) };
  if (last === null) {
    const conditions = storedConditions(stored).filter(({ type }) => CYCLE_CONDITIONS.has(type));
    return { conditions, numbers: storedNumbers(stored) };
  }
  const conditions = last.conditions.map(({ type, status, reason, message }) => ({
    type,
    status,
    reason,
    message,
  }));
  return { conditions, numbers: numbersOf(last, stored) };
}

function numbersOf(last: LedgerEntry, stored: JsonObject | null): StatusNumbers {
  const { decision, scaler } = last.record;
  const { scaleTargetRef } = scaler.spec;
  const { minReplicas, maxReplicas } = boundsOf(last.record);
  const scaled = {
    minReplicas,
    maxReplicas,
    ...scaledAt(lastScale(last) ?? textIn(stored, 'lastScaleTime')),
    reference: `${scaleTargetRef.kind}/${scaleTargetRef.name}`,
    targets: metricTargets(last),
  };
  if (decision === null) return scaled;
  const metrics = currentMetrics(last);
  return {
    currentReplicas: decision.currentReplicas,
    desiredReplicas: desiredReplicasOf(last.record) ?? decision.desiredReplicas,
    ...scaled,
    ...(metrics.length === 0 ? {} : { currentMetrics: metrics }),
  };
}

function scaledAt(lastScaleTime: string | null): StatusNumbers {
  return lastScaleTime === null ? {} : { lastScaleTime };
}

function lastScale({ lastRescale: { up, down } }: LedgerEntry): string | null {
  const instant = up !== null && down !== null ? latest(up, down) : (up ?? down);
  return instant === null ? null : formatSecond(instant);
}

function generationOf(
  before: readonly StatusCondition[],
  { type }: NewCondition,
): Pick<NewCondition, 'observedGeneration'> {
  const observedGeneration = before.find((one) => one.type === type)?.observedGeneration;
  return observedGeneration === undefined ? {} : { observedGeneration };
}

/** Returns the time of the condition in the ledger. Null for `Accepted` and `Ready`, which are not in the ledger. */
function sinceOf({ type }: NewCondition, last: LedgerEntry | null): Instant | null {
  return last?.conditions.find((condition) => condition.type === type)?.lastTransition ?? null;
}

function timed(condition: NewCondition, before: readonly StatusCondition[], since: Instant): StatusCondition {
  const old = before.find(({ type }) => type === condition.type);
  const lastTransitionTime = old?.status === condition.status ? old.lastTransitionTime : formatSecond(since);
  return { ...condition, lastTransitionTime };
}

function truncate(condition: NewCondition): NewCondition {
  return { ...condition, message: truncated(cleanText(condition.message)) };
}

function truncated(text: string): string {
  return text.length <= MAX_MESSAGE_LENGTH ? text : `${text.slice(0, MAX_MESSAGE_LENGTH - 3)}...`;
}

/** The reasons of the condition `Accepted`, and the status of the condition for each reason. */
export const ACCEPTED_REASONS = {
  Accepted: 'True',
  Invalid: 'False',
  Duplicate: 'False',
  SourceNotAdmitted: 'False',
  NamespaceNotWatched: 'False',
} as const satisfies Readonly<Record<string, NewCondition['status']>>;

type AcceptedReason = keyof typeof ACCEPTED_REASONS;

function acceptedBecause(reason: AcceptedReason, message: string): NewCondition {
  return { type: 'Accepted', status: ACCEPTED_REASONS[reason], reason, message };
}

/** Problem codes with a reason of their own, in order of precedence. Every other error has the reason `Invalid`. */
const REASONS: readonly (readonly [code: string, reason: AcceptedReason])[] = [
  ['duplicate-document', 'Duplicate'],
  ['namespace-not-watched', 'NamespaceNotWatched'],
];

/**
 * Returns the condition `Accepted`: whether the document of an object is in effect. The message is one line, because
 * `kubectl describe` does not indent further lines.
 */
function accepted({ problems, scaler }: ObjectVerdict): NewCondition {
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) {
    const warnings = problems.map((problem) => `warning: ${problemLine(problem)}`);
    return acceptedBecause('Accepted', ['the document is in effect', ...warnings].join('; '));
  }
  const fallback = scaler === null ? [] : ['the last valid version stays in effect'];
  return acceptedBecause(rejectedBecause(errors), [...errors.map(problemLine), ...fallback].join('; '));
}

function rejectedBecause(errors: readonly Problem[]): AcceptedReason {
  const elsewhere = REASONS.find(([code]) => errors.some((error) => error.code === code));
  if (elsewhere !== undefined) return elsewhere[1];
  return errors.every(({ code }) => code === 'source-not-admitted') ? 'SourceNotAdmitted' : 'Invalid';
}

const NOT_READY: ReadonlySet<string> = new Set(['ConflictingScaler', 'NoAutoscaler', 'ScaleOverridden']);

function readyOf(
  acceptance: NewCondition,
  decided: readonly NewCondition[],
  last: LedgerEntry | null,
  state: StatusState['state'],
): NewCondition {
  const held = conditionOf(decided, 'Held');
  const active = conditionOf(decided, 'ScalingActive');
  if (acceptance.status === 'False') return { ...acceptance, type: 'Ready' };
  // A user did not request these holds but has to end them, so the scaler is not ready.
  if (held?.status === 'True' && NOT_READY.has(held.reason))
    return { ...held, type: 'Ready', status: 'False' };
  const writer = state === 'Conflict' ? last?.record.conflictingWriter : undefined;
  if (writer !== undefined)
    return { type: 'Ready', status: 'False', reason: 'ConflictingWriter', message: writer.message };
  const failing = cannotScale(decided);
  if (failing !== undefined) return { ...failing, type: 'Ready' };
  if (conditionOf(decided, 'AbleToScale') === undefined) {
    const message = 'no decision has been made yet';
    return { type: 'Ready', status: 'Unknown', reason: 'NotDecided', message };
  }
  if (active === undefined || active.status === 'Unknown') {
    // Adds the reason of the decision: without a metric, the count may still move into its bounds, over many cycles.
    const decision = last === null ? null : reasonOf(last.record);
    const message = `${active?.message ?? 'no metric has been evaluated yet'}${decision === null ? '' : `; ${decision}`}`;
    return { type: 'Ready', status: 'Unknown', reason: 'NotEvaluated', message };
  }
  // A fallback or a metric that is read as 0 is mentioned, because the count does not come from a value.
  const instead = active.reason === 'ValidMetricFound' ? '' : `; ${active.message}`;
  const message =
    held?.status === 'True'
      ? `the document is in effect; ${held.message}`
      : `the document is in effect and its target can be scaled${instead}`;
  return { type: 'Ready', status: 'True', reason: 'Ready', message };
}

/** Number of metrics in the column TARGETS, as in `kubectl get hpa`. */
const SHOWN_METRICS = 2;

/**
 * Returns the metrics with their current values and targets, as `kubectl get hpa` prints them: `cpu: 45%/60%`,
 * `requests-per-second: 18/20 (avg)`. A metric without a value is `<unknown>`, never 0.
 */
export function metricTargets({ record }: Pick<LedgerEntry, 'record'>): string {
  const { metrics } = record.scaler.spec;
  const results = record.decision?.metrics ?? [];
  const shown = metrics.slice(0, SHOWN_METRICS).map((spec, index) => metricTarget(spec, results[index]));
  const others = metrics.length - shown.length;
  return `${shown.join(', ')}${others > 0 ? ` + ${others} more...` : ''}`;
}

function metricTarget(spec: MetricSpec, result: MetricResult | undefined): string {
  const isPercent = spec.target.type === 'Utilization';
  const write = (value: number): string =>
    isPercent ? `${Math.round(value)}%` : formatAmount(value, spec.name);
  const value = currentValue(spec, result);
  const average = spec.target.type === 'AverageValue' ? ' (avg)' : '';
  return `${spec.identity}: ${value === null ? '<unknown>' : write(value)}/${write(targetValue(spec, result))}${average}`;
}

/**
 * Returns the metrics as in `status.currentMetrics` of autoscaling/v2, in the order of the document. A metric without a
 * value is omitted, never 0.
 */
export function currentMetrics({ record }: Pick<LedgerEntry, 'record'>): readonly JsonObject[] {
  const results = record.decision?.metrics ?? [];
  return record.scaler.spec.metrics.flatMap((spec, index) => {
    const current = currentValueStatus(results[index], spec.name);
    return current === null ? [] : [metricStatus(spec, current)];
  });
}

/**
 * Returns a current value as in autoscaling/v2: the utilization is an integer percentage, and quantities are strings,
 * formatted as in the column TARGETS. Null: the value is unknown.
 */
function currentValueStatus(result: MetricResult | undefined, name: string): JsonObject | null {
  const { averageUtilization, averageValue, value } = currentValues(result);
  const known = {
    ...(averageUtilization === undefined ? {} : { averageUtilization: Math.round(averageUtilization) }),
    ...(averageValue === undefined ? {} : { averageValue: formatAmount(averageValue, name) }),
    ...(value === undefined ? {} : { value: formatAmount(value, name) }),
  };
  return Object.keys(known).length === 0 ? null : known;
}

function metricStatus(spec: MetricSpec, current: JsonObject): JsonObject {
  const named = { metric: { name: spec.name }, current };
  switch (spec.type) {
    case 'Resource':
      return { type: spec.type, resource: { name: spec.name, current } };
    case 'ContainerResource':
      return {
        type: spec.type,
        containerResource: { name: spec.name, container: spec.container, current },
      };
    case 'Pods':
      return { type: spec.type, pods: named };
    case 'Object': {
      const { describedObject } = spec;
      return { type: spec.type, object: describedObject === null ? named : { ...named, describedObject } };
    }
    case 'External':
      return { type: spec.type, external: named };
    default:
      return spec satisfies never;
  }
}
