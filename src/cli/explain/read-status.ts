import {
  type JsonObject,
  asObject,
  countIn,
  instantIn,
  objectIn,
  objectsIn,
  textIn,
} from '../../kubernetes/api/json.js';
import { OBJECTS_PATH } from '../../config/read-objects.js';
import type { ExplainedStatus, ReportedState } from '../explanation/explanation.js';

/** Missing fields become null or empty. */
export function readStatus(detail: JsonObject): ExplainedStatus {
  const outcome = objectIn(detail, 'outcome');
  const reported = {
    kind: textIn(outcome, 'kind') ?? 'unknown',
    from: countIn(outcome, 'from'),
    to: countIn(outcome, 'to'),
    message: textIn(outcome, 'message') ?? '',
  };
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
    reason: reasonIn(detail, reported),
    generation: countIn(asObject(detail), 'generation'),
    newestGeneration: countIn(asObject(detail), 'newestGeneration'),
    ...readRejections(detail),
    conflictingWriter: textIn(objectIn(detail, 'conflictingWriter'), 'message'),
    lastScaleUp: instantIn(asObject(detail), 'lastScaleUp'),
    lastScaleDown: instantIn(asObject(detail), 'lastScaleDown'),
  };
}

function stateIn(detail: JsonObject): ReportedState | null {
  const state = objectIn(detail, 'state');
  const name = textIn(state, 'name');
  if (name === null) return null;
  const [since, until] = [instantIn(state, 'since'), instantIn(state, 'until')];
  return { name, cause: textIn(state, 'cause'), since, until };
}

/** While the decision has a generation, it is that of the object: the file of the same name is invalid. */
function readRejections(detail: JsonObject): Pick<ExplainedStatus, 'rejections' | 'unusedObject'> {
  const problems = objectsIn(detail, 'rejections');
  const isOfObject = (problem: JsonObject): boolean =>
    textIn(problem, 'file')?.startsWith(`${OBJECTS_PATH}/`) === true;
  const hasFile =
    countIn(asObject(detail), 'generation') === null &&
    problems.some((problem) => isOfObject(problem) && textIn(problem, 'code') === 'duplicate-document');
  const isUnused = (problem: JsonObject): boolean => hasFile && isOfObject(problem);
  const messageOf = (problem: JsonObject): string => textIn(problem, 'message') ?? '';
  return {
    rejections: problems.filter((problem) => !isUnused(problem)).map(messageOf),
    unusedObject: problems.filter(isUnused).map(messageOf),
  };
}

/** A stored decision has no separate reason. In a pause with replicas, the outcome contains the reason. */
function reasonIn(
  detail: JsonObject,
  { kind, from, to, message }: ExplainedStatus['outcome'],
): string | null {
  const reason = textIn(detail, 'reason');
  const setsReplicas = countIn(objectIn(detail, 'pause'), 'replicas') !== null;
  if (reason !== null && (setsReplicas || reason.startsWith('resumed: '))) return reason;
  if (!message.startsWith('paused by ')) return null;
  return `${kind === 'patched' ? `${from ?? '?'} -> ${to ?? '?'}` : `stays at ${from ?? '?'}`}: ${message}`;
}
