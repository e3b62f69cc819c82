import { type JsonObject, asObject, countIn, objectIn, objectsIn, textIn } from '../../kubernetes/json.js';
import { parseInstant } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import type { ExplainedStatus } from './explained.js';

/** What a service says of a scaler beyond the decision. What is missing in its answer is null or left out. */
export function readStatus(detail: JsonObject): ExplainedStatus {
  const outcome = objectIn(detail, 'outcome');
  const told = {
    kind: textIn(outcome, 'kind') ?? 'not known',
    from: countIn(outcome, 'from'),
    to: countIn(outcome, 'to'),
    message: textIn(outcome, 'message') ?? '',
  };
  return {
    conditions: objectsIn(detail, 'conditions').map((condition) => ({
      type: textIn(condition, 'type') ?? '',
      status: textIn(condition, 'status') ?? '',
      reason: textIn(condition, 'reason') ?? '',
      message: textIn(condition, 'message') ?? '',
      lastTransitionTime: textIn(condition, 'lastTransitionTime') ?? '',
    })),
    outcome: told,
    reason: reasonIn(detail, told),
    conflictingWriter: textIn(objectIn(detail, 'conflictingWriter'), 'message'),
    lastScaleUp: instantIn(asObject(detail), 'lastScaleUp'),
    lastScaleDown: instantIn(asObject(detail), 'lastScaleDown'),
  };
}

/** The state of the past has no reason of its own, but what became of an order says it. */
function reasonIn(
  detail: JsonObject,
  { kind, from, to, message }: ExplainedStatus['outcome'],
): string | null {
  const reason = textIn(detail, 'reason');
  const isOrder = countIn(objectIn(detail, 'pause'), 'replicas') !== null;
  if (reason !== null && (isOrder || reason.startsWith('resumed: '))) return reason;
  if (!message.startsWith('paused by ')) return null;
  return `${kind === 'patched' ? `${from ?? '?'} -> ${to ?? '?'}` : `stays at ${from ?? '?'}`}: ${message}`;
}

/** The member as an instant; null where it is missing or no time. */
export function instantIn(parent: JsonObject | null, key: string): Instant | null {
  const text = textIn(parent, key);
  return text === null ? null : parseInstant(text);
}
