import { type JsonObject, asObject, countIn, objectIn, objectsIn, textIn } from '../../kubernetes/json.js';
import { parseInstant } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import type { ExplainedStatus } from './explained.js';

/** What a service says of a scaler beyond the decision. What is missing in its answer is null or left out. */
export function readStatus(detail: JsonObject): ExplainedStatus {
  const outcome = objectIn(detail, 'outcome');
  return {
    conditions: objectsIn(detail, 'conditions').map((condition) => ({
      type: textIn(condition, 'type') ?? '',
      status: textIn(condition, 'status') ?? '',
      reason: textIn(condition, 'reason') ?? '',
      message: textIn(condition, 'message') ?? '',
      lastTransitionTime: textIn(condition, 'lastTransitionTime') ?? '',
    })),
    outcome: {
      kind: textIn(outcome, 'kind') ?? 'not known',
      from: countIn(outcome, 'from'),
      to: countIn(outcome, 'to'),
      message: textIn(outcome, 'message') ?? '',
    },
    conflictingWriter: textIn(objectIn(detail, 'conflictingWriter'), 'message'),
    lastScaleUp: instantIn(asObject(detail), 'lastScaleUp'),
    lastScaleDown: instantIn(asObject(detail), 'lastScaleDown'),
  };
}

/** The member as an instant; null where it is missing or no time. */
export function instantIn(parent: JsonObject | null, key: string): Instant | null {
  const text = textIn(parent, key);
  return text === null ? null : parseInstant(text);
}
