import { type Instant, parseInstant } from '../units/time.js';
import { asleep, atMaximum, atMinimum, fixed, limitCause, noSeries, type Reason } from './bound-states.js';
import { besideDryRun, nameOtherScaler, pauseCause, pauseMessage } from './pause.js';
import type { OtherAutoscaler, Pause } from './pause.js';
import { describeRejection, type RejectedVersion } from './rejection.js';
import { activeHold, type Condition, conditionOf, ignoredAnnotations } from './result/condition.js';
import { isFailing, missingMetrics, NOT_CALCULATED, readAsZero, unreadTarget } from './failing.js';
import type { PastDecision } from './result/decision.js';
import { causedByHold, type Severity, type StateName, STATES } from './severity.js';
import { countOf } from '../units/format.js';

export interface ScalerState {
  readonly name: StateName;
  readonly severity: Severity;
  /**
   * The reason, in a few words on one line, such as `queue_length: no series`; null: the state needs no explanation.
   */
  readonly cause: string | null;
  /** When the state ends; null: the end depends on more than time. */
  readonly until: Instant | null;
}

/**
 * The facts that determine a state. In the record of a past cycle, the optional facts are missing, but most of them are
 * in its conditions.
 */
export interface StateFacts {
  readonly decision: PastDecision | null;
  readonly outcome: {
    readonly kind: string;
    readonly from: number | null;
    readonly to: number | null;
    readonly message: string;
  };
  /** The conditions after the cycle, at most one of each type. */
  readonly conditions: readonly Condition[];
  readonly pause?: Pause | null;
  readonly dryRun?: boolean;
  readonly conflictingWriter?: Omit<ConflictingWriter, 'since' | 'message'> | undefined;
  readonly otherScaler?: OtherAutoscaler | undefined;
  readonly noAutoscaler?: string | undefined;
  readonly shadow?: { readonly beside: string; readonly theirReplicas: number } | undefined;
}

/** Other clients that overwrite the replicas that promscaler sets. Does not stop scaling. */
export interface ConflictingWriter {
  /** Names in `managedFields`, such as `kubectl` and `argocd-controller`; empty: unknown. */
  readonly managers: readonly string[];
  /** When the third change was read, in RFC 3339. */
  readonly since: string;
  /** How often the clients have replaced a count that promscaler had set, without a break of ten minutes. */
  readonly count: number;
  /** When the last change was read. */
  readonly last: string;
  /** When the conflict ends without a further change. */
  readonly until: string;
  readonly message: string;
}

/**
 * Returns the state of a scaler by the first rule that applies. `facts` null: no decision was made yet. `rejection`
 * null: the newest version of the document is in effect.
 */
export function stateOf(facts: StateFacts | null, rejection: RejectedVersion | null): ScalerState {
  if (facts === null) {
    return rejection === null
      ? found('Pending', { cause: 'no decision has been made yet' })
      : found('Invalid', rejection);
  }
  const ignored = ignoredAnnotations(facts.conditions);
  const zeros = readAsZero(facts.decision);
  for (const { state, find } of RULES) {
    const reason = find(facts, rejection);
    if (reason === null) continue;
    // A state that takes precedence mentions the rejection in its cause.
    const hidden = rejection !== null && state !== 'Rejected' ? [describeRejection(rejection)] : [];
    const zero = STATES[state] === 'cannot-follow' || state === 'Paused' ? [] : zeros;
    return found(state, { ...reason, cause: [reason.cause, ...zero, ...hidden, ...ignored].join('; ') });
  }
  const { kind, from, to } = facts.outcome;
  const isChanged = (kind === 'patched' || kind === 'replaced') && from !== to;
  const causes = [...(isChanged ? [`scaled from ${from} to ${to}`] : []), ...zeros, ...ignored];
  return causes.length === 0 ? OK : found('OK', { cause: causes.join('; ') });
}

function found(name: StateName, { cause, until = null }: Reason): ScalerState {
  return { name, severity: STATES[name], cause: cause.replaceAll('\n', ' '), until };
}

/** One object for all scalers that are OK, to save memory: the status of each scaler keeps its state. */
const OK: ScalerState = { name: 'OK', severity: 'ok', cause: null, until: null };

interface Rule {
  readonly state: StateName;
  /** Used only by the documentation. */
  readonly when: string;
  readonly find: (facts: StateFacts, rejection: RejectedVersion | null) => Reason | null;
}

/**
 * The rules in order of precedence. A pause precedes problems of metrics, because the user who paused a scaler does not
 * expect it to follow its load. A reason why promscaler does not scale precedes a conflict with another client, because
 * promscaler scales during that conflict. Missing pods precede missing metrics, because pods that do not run have no
 * metrics. A missing target precedes the dry run, because without a target there is nothing to decide.
 */
const RULES: readonly Rule[] = [
  {
    state: 'Conflict',
    when: 'the scaler is not in dry run, and an HPA, another document that is not in dry run, or a webhook also sets the replicas',
    find: conflict,
  },
  {
    state: 'Paused',
    when: 'a pause in both directions, of scale-ups, or at a fixed count is in effect; the cause shows the blocking condition, too',
    find: (facts) => pause(facts, true),
  },
  { state: 'NoTarget', when: 'the target or its pods cannot be read', find: noTarget },
  {
    state: 'NoAutoscaler',
    when: 'nothing scales the target: the scaler is in dry run, and either the HPA of the target has no desired replicas, or the autoscaler that the scaler replaces no longer scales the target',
    find: ({ conditions }) => heldBy(conditions, 'NoAutoscaler'),
  },
  {
    state: 'DryRun',
    when: 'the scaler is in dry run, so decisions are not applied; the cause shows the blocking condition or the pending change',
    find: dryRun,
  },
  { state: 'WriteFailed', when: 'the API server rejected the change of the replicas', find: writeFailed },
  {
    state: 'PodsNotReady',
    when: 'pods have no node, crash, have not been ready for 300 s, or their rollout is stuck',
    find: (facts) => unreached(facts, isFailing),
  },
  { state: 'NoData', when: 'a metric has no value, or the fallback replaces the value', find: noData },
  {
    state: 'Conflict',
    when: 'another client has replaced the count of promscaler three times within 10 minutes, and the last time is less than 10 minutes ago; promscaler continues to scale',
    find: writerConflict,
  },
  {
    state: 'AtMaximum',
    when: 'the metrics recommend more than the maximum in effect or the ceiling of `maxReplicasFrom`, and minReplicas and maxReplicas differ',
    find: (facts) => atMaximum(facts) ?? limitCause(facts, 'AtMaximum'),
  },
  {
    state: 'WriteFailed',
    when: 'the state of the scaler cannot be stored, so nothing is scaled down',
    find: ({ conditions }) => heldBy(conditions, 'WriteFailed', ': promscaler does not'),
  },
  {
    state: 'Fixed',
    when: 'another client has set the target to 0 replicas, or the document sets minReplicas and maxReplicas to the same count, below the recommendation, or disables the change (`selectPolicy: Disabled`)',
    find: (facts) => fixed(facts) ?? limitCause(facts, 'Fixed'),
  },
  {
    state: 'Rejected',
    when: 'the newest version of the document is invalid, and an earlier one is in effect; or a file takes precedence over a Scaler object with the same name',
    find: (_facts, rejection) => rejection,
  },
  {
    state: 'Paused',
    when: 'a pause of scale-downs is in effect, or the rollout of the target is paused',
    find: (facts) => pause(facts, false) ?? unreached(facts, ({ reason }) => reason === 'RolloutPaused'),
  },
  {
    state: 'Pending',
    when: 'no metric of this version has been evaluated yet, or the target changed after the decision',
    find: pending,
  },
  {
    state: 'Starting',
    when: 'pods have been missing for less than 300 s',
    find: (facts) => unreached(facts, ({ reason }) => reason === 'Starting'),
  },
  {
    state: 'NoSeries',
    when: 'the count is 0 or the minimum in effect, no metric recommends a replica, and a metric has no series, which the document reads as 0 (`onMissing: zero`): there may be no work, or the query may be wrong',
    find: noSeries,
  },
  {
    state: 'Asleep',
    when: 'the target has 0 replicas, and no metric recommends more',
    find: asleep,
  },
  {
    state: 'AtMinimum',
    when: 'the count is the minimum in effect, and no metric recommends more',
    find: atMinimum,
  },
  {
    state: 'PartialData',
    when: 'a metric has only a partial value, which cannot scale down',
    find: (facts) => limitCause(facts, 'PartialData'),
  },
  {
    state: 'Stabilizing',
    when: 'a stabilization window, a recovery hold (after missing values), a confirmation or `cooldownSeconds` delays the change',
    find: (facts) => limitCause(facts, 'Stabilizing') ?? facts.decision?.cooldown ?? null,
  },
  {
    state: 'RateLimited',
    when: 'a policy or a limit for one step makes the change smaller',
    find: (facts) => limitCause(facts, 'RateLimited'),
  },
  {
    state: 'Backoff',
    when: 'a forbidden window (a minimum time after a change) delays the next change',
    find: (facts) => limitCause(facts, 'Backoff'),
  },
];

/** The states in order of precedence, for the documentation. */
export const STATE_TABLE: readonly Omit<Rule, 'find'>[] = [
  { state: 'Invalid', when: 'the document is invalid, and no earlier version is in effect' },
  ...RULES,
  { state: 'OK', when: 'no other state applies' },
];

/** Returns the message of `Held` up to the first `end`; null: `Held` is not True with a reason that causes `state`. */
function heldBy(conditions: readonly Condition[], state: StateName, end = ';'): Reason | null {
  const held = activeHold(conditions);
  if (held === undefined || causedByHold(held) !== state) return null;
  return { cause: held.message.split(end, 1)[0] ?? held.message };
}

function conflict(facts: StateFacts): Reason | null {
  const { conditions, pause: current } = facts;
  const held = heldBy(conditions, 'Conflict');
  return held === null || current == null ? held : { cause: `${held.cause}; ${pauseMessage(current)}` };
}

/** promscaler scales during this conflict, so states in which it does not scale take precedence. */
function writerConflict({ conflictingWriter: writer }: StateFacts): Reason | null {
  if (writer === undefined) return null;
  const { managers, count, last, until } = writer;
  const who = managers.length === 0 ? 'another client' : managers.join(', ');
  return {
    cause: `${who} changed spec.replicas ${count} times, last at ${last}`,
    until: parseInstant(until),
  };
}

function pause(facts: StateFacts, stopsScaleUp: boolean): Reason | null {
  const found = ownCause(facts, stopsScaleUp);
  const trouble = found === null || !stopsScaleUp ? null : hiddenTrouble(facts);
  return found === null || trouble === null ? found : { ...found, cause: `${found.cause}; ${trouble}` };
}

/** Returns the cause of a pause without its end, which is in `until`. */
function ownCause(facts: StateFacts, stopsScaleUp: boolean): Reason | null {
  const { pause: current, conditions } = facts;
  // The record of a past cycle has no `pause`, only the condition.
  if (current === undefined) return heldBy(conditions, 'Paused', '\n');
  if (current === null) return null;
  if ((current.direction !== 'scale-down' || current.replicas !== null) !== stopsScaleUp) return null;
  const { dryRun: isInDryRun, otherScaler: other = null, noAutoscaler = null } = facts;
  const beside = isInDryRun === true ? besideDryRun(other, noAutoscaler) : '';
  return { cause: `${pauseCause(current)}${beside}`, until: current.until };
}

/**
 * Returns the state that a person would see without a dry run or pause, if it is urgent, such as `AtMaximum: 9
 * recommended, maxReplicas is 4`. `Conflict` and `NoAutoscaler` are excluded: the cause already names another
 * autoscaler, and another client may set the replicas during a pause or dry run.
 */
function hiddenTrouble(facts: StateFacts): string | null {
  for (const { state, find } of RULES) {
    if (STATES[state] !== 'cannot-follow' || state === 'Conflict' || state === 'NoAutoscaler') continue;
    const trouble = find(facts, null);
    if (trouble !== null) return `${state}: ${trouble.cause}`;
  }
  return null;
}

function isDryRun({ dryRun, conditions }: StateFacts): boolean {
  const held = activeHold(conditions);
  return dryRun === true || held?.reason === 'DryRun' || held?.reason === 'NoAutoscaler';
}

function dryRun(facts: StateFacts): Reason | null {
  if (!isDryRun(facts)) return null;
  const { decision, outcome, shadow, otherScaler: other } = facts;
  const trouble = hiddenTrouble(facts);
  if (trouble !== null) return { cause: `${trouble}${wantedBeside(facts)}` };
  const change =
    outcome.kind === 'dry-run' && outcome.from !== outcome.to
      ? `would scale from ${outcome.from} to ${outcome.to}`
      : `would keep ${decision === null ? 'the replicas' : countOf(decision.currentReplicas, 'replica')}`;
  if (shadow !== undefined || other === undefined) return { cause: `${change}${wantedBeside(facts)}` };
  return { cause: `${change}; ${nameOtherScaler(other)} has the same target` };
}

/**
 * Returns what the HPA next to a dry run wants, as the end of a cause. It names the HPA, because an HPA may exist for a
 * while after its ScaledObject was deleted.
 */
function wantedBeside({ shadow }: StateFacts): string {
  if (shadow === undefined) return '';
  const hpa = shadow.beside.startsWith('ScaledObject ') ? `the HPA of ${shadow.beside}` : shadow.beside;
  return `; ${hpa} has ${shadow.theirReplicas} desired replicas`;
}

function noTarget({ decision, conditions }: StateFacts): Reason | null {
  if (decision !== null) return null;
  const failed = unreadTarget(conditions);
  return failed === undefined ? null : { cause: failed.message };
}

function writeFailed({ outcome, conditions }: StateFacts): Reason | null {
  if (outcome.kind === 'failed') return { cause: outcome.message };
  const able = conditionOf(conditions, 'AbleToScale');
  return able?.reason === 'FailedUpdateScale' ? { cause: able.message } : null;
}

function noData({ decision, conditions }: StateFacts): Reason | null {
  const active = conditionOf(conditions, 'ScalingActive');
  const isActive = active === undefined || !isFailing(active);
  // At 0 replicas, metrics of pods have no value, which is no failure.
  if (isActive && decision?.currentReplicas === 0) return null;
  const cause = missingMetrics(decision);
  if (cause !== null) return { cause };
  return isActive ? null : { cause: active.message.replace(NOT_CALCULATED, '') };
}

function unreached({ conditions }: StateFacts, isWanted: (condition: Condition) => boolean): Reason | null {
  const reached = conditionOf(conditions, 'TargetReached');
  return reached?.status === 'False' && isWanted(reached) ? { cause: reached.message } : null;
}

function pending({ decision, outcome, conditions }: StateFacts): Reason | null {
  if (outcome.kind === 'conflict') return { cause: outcome.message };
  const active = conditionOf(conditions, 'ScalingActive');
  const isEvaluated = decision !== null && active !== undefined && active.reason !== 'NotEvaluated';
  return isEvaluated ? null : { cause: 'no metric has been evaluated yet' };
}
