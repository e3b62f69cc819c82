import { asObject } from '../../scaler/plain-json.js';
import {
  type JsonObject,
  countIn,
  instantIn,
  objectIn,
  objectsIn,
  textIn,
} from '../../kubernetes/api/json.js';
import { countChange } from '../../decision/explain.js';
import { isUnusedObject } from '../../decision/rejection.js';
import { isOfObject } from '../../scaler/problems/problem.js';
import type { ExplainedStatus, ReportedState } from '../explanation/explanation.js';
import { decide } from '../../decision/decide.js';
import type { Decision } from '../../decision/result/decision.js';
import { SnapshotError, parseSnapshot } from '../../decision/snapshot/parse-snapshot.js';
import type { Snapshot } from '../../decision/snapshot/snapshot.js';
import { CommandError } from '../output/io.js';

/** Reads the status that a service of any version reports. A field that it does not report is null or empty. */
export function readStatus(detail: JsonObject): ExplainedStatus {
  const outcome = objectIn(detail, 'outcome');
  const reported = {
    kind: textIn(outcome, 'kind') ?? 'unknown',
    from: countIn(outcome, 'from'),
    to: countIn(outcome, 'to'),
    message: textIn(outcome, 'message') ?? '',
  };
  const change = pausedChange(detail, reported);
  return {
    state: stateIn(detail),
    conditions: objectsIn(detail, 'conditions').map((condition) => ({
      type: textIn(condition, 'type') ?? '',
      status: textIn(condition, 'status') ?? '',
      reason: textIn(condition, 'reason') ?? '',
      message: textIn(condition, 'message') ?? '',
      lastTransitionTime: textIn(condition, 'lastTransitionTime') ?? '',
    })),
    outcome: reported,
    reason: reasonIn(detail, reported, change),
    pausedChange: change,
    generation: countIn(asObject(detail), 'generation'),
    newestGeneration: countIn(asObject(detail), 'newestGeneration'),
    ...readRejections(detail),
    conflictingWriter: textIn(objectIn(detail, 'conflictingWriter'), 'message'),
    lastScaleUp: instantIn(asObject(detail), 'lastScaleUp'),
    lastScaleDown: instantIn(asObject(detail), 'lastScaleDown'),
  };
}

/** Reads the status of a past decision. The times of its conditions are not shown: they are older than the decision. */
export function readPastStatus(detail: JsonObject): ExplainedStatus {
  const status = readStatus(detail);
  return {
    ...status,
    conditions: status.conditions.map(({ type, status, reason, message }) => ({
      type,
      status,
      reason,
      message,
    })),
  };
}

function stateIn(detail: JsonObject): ReportedState | null {
  const state = objectIn(detail, 'state');
  const name = textIn(state, 'name');
  if (name === null) return null;
  const [since, until] = [instantIn(state, 'since'), instantIn(state, 'until')];
  return { name, cause: textIn(state, 'cause'), since, until };
}

/**
 * Separates the errors of a rejected document from the errors of an object that has no effect because a file contains a
 * document with the same name. If the decision has a generation, the service uses the object, so all errors belong to
 * the rejected document.
 */
function readRejections(detail: JsonObject): Pick<ExplainedStatus, 'rejections' | 'unusedObject'> {
  const problems = objectsIn(detail, 'rejections');
  const placed = (problem: JsonObject) => ({
    file: textIn(problem, 'file'),
    code: textIn(problem, 'code') ?? '',
  });
  const hasFile =
    countIn(asObject(detail), 'generation') === null &&
    problems.some((problem) => isUnusedObject(placed(problem)));
  const isUnused = (problem: JsonObject): boolean => hasFile && isOfObject(placed(problem));
  const messageOf = (problem: JsonObject): string => textIn(problem, 'message') ?? '';
  return {
    rejections: problems.filter((problem) => !isUnused(problem)).map(messageOf),
    unusedObject: problems.filter(isUnused).map(messageOf),
  };
}

/**
 * Returns what a pause with a fixed count does. A stored decision has no such field, but its message starts with
 * `paused by`.
 */
function pausedChange(
  detail: JsonObject,
  { kind, from, to, message }: ExplainedStatus['outcome'],
): ExplainedStatus['pausedChange'] {
  const replicas = countIn(objectIn(detail, 'pause'), 'replicas');
  const current = countIn(objectIn(detail, 'decision'), 'currentReplicas');
  if (replicas !== null && current !== null) return { from: current, to: replicas };
  if (!message.startsWith('paused by ') || from === null || to === null) return null;
  return { from, to: kind === 'patched' ? to : from };
}

/**
 * Returns the reason of the outcome; null: it equals the reason of the decision. A stored decision has only the message
 * of its outcome.
 */
function reasonIn(
  detail: JsonObject,
  { message }: ExplainedStatus['outcome'],
  change: ExplainedStatus['pausedChange'],
): string | null {
  const reason = textIn(detail, 'reason');
  if (reason !== null) return reason === textIn(objectIn(detail, 'decision'), 'reason') ? null : reason;
  return change === null ? null : `${countChange(change.from, change.to)}: ${message}`;
}

/** Decides on a snapshot. Throws `CommandError` if it is invalid. `called`: what the message calls the snapshot. */
export function decideJson(
  json: unknown,
  isFromService: boolean,
  called = 'the snapshot',
): { readonly snapshot: Snapshot; readonly decision: Decision } {
  try {
    const snapshot = parseSnapshot(json);
    return { snapshot, decision: decide(snapshot) };
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    const hint = isFromService ? '. The version of the service may be newer than this command' : '';
    throw new CommandError(`${called} is invalid: ${error.message}${hint}`);
  }
}
