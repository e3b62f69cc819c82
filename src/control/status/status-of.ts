import type { ObjectVerdict } from '../../config/add-objects.js';
import { textIn, type JsonObject } from '../../kubernetes/json.js';
import type { ScalerObject } from '../../kubernetes/scaler-objects/scaler-object.js';
import type { ScalerStatus } from '../../telemetry/ledger.js';
import { formatInstant, latest } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import { accepted } from './accepted.js';
import { currentMetrics } from './current-metrics.js';
import { shownConditions, shownNumbers } from './object-status.js';
import type { ObjectStatus, ShownCondition, StatedCondition, StatusNumbers } from './object-status.js';
import { readyOf } from './ready.js';

export interface StatusInput {
  readonly object: ScalerObject;
  readonly verdict: ObjectVerdict;
  /** What the last cycle of this process has left; null: there was none yet. */
  readonly last: ScalerStatus | null;
  readonly now: Instant;
}

/** The longest message of a condition, in characters. */
const MAX_MESSAGE = 1024;

/** The types of conditions that a decision and the loop have. */
const DECIDED: ReadonlySet<string> = new Set([
  'AbleToScale',
  'ScalingActive',
  'ScalingLimited',
  'Held',
  'TargetReached',
  'MetricsUnique',
]);

/**
 * The status that an object should show. A condition keeps its `lastTransitionTime` as long as its status stays, by what
 * the object shows already: nothing of it is lost with a process. As long as this process has not decided, what an
 * earlier one has found stays there; where nothing of the document is in force, nothing does.
 */
export function statusOf({ object, verdict, last, now }: StatusInput): ObjectStatus {
  const { generation: observedGeneration, status: shown } = object;
  const acceptance = { ...accepted(verdict), observedGeneration };
  const { conditions: decided, numbers } = foundOf(verdict.scaler === null ? 'nothing' : last, shown);
  const isPresent = acceptance.status === 'False' || last?.record.scaler === verdict.scaler;
  const before = shownConditions(shown);
  const about = decided.map((condition) =>
    acceptance.status === 'True' && isPresent
      ? { ...condition, observedGeneration }
      : // Without a generation `kubectl wait` would take it for the present one.
        { ...generationOf(before, condition), ...condition },
  );
  const shownReady = before.find(({ type }) => type === 'Ready');
  const ready =
    isPresent || shownReady === undefined
      ? { ...readyOf(acceptance, decided), observedGeneration }
      : // Of the document that was decided by last: who waits for the new one goes on to wait.
        withoutTime(shownReady);
  const own = [acceptance, ...about, ready];
  const foreign = before.filter(({ type }) => !DECIDED.has(type) && own.every((one) => one.type !== type));
  return {
    observedGeneration,
    ...numbers,
    conditions: [...own.map((condition) => timed(cut(condition), before, now)), ...foreign],
  };
}

/** What was decided last, by this process or, as long as that has not, by an earlier one. */
function foundOf(
  last: ScalerStatus | null | 'nothing',
  shown: JsonObject | null,
): { readonly conditions: readonly StatedCondition[]; readonly numbers: StatusNumbers } {
  if (last === 'nothing') return { conditions: [], numbers: scaledAt(textIn(shown, 'lastScaleTime')) };
  if (last === null) {
    const conditions = shownConditions(shown).filter(({ type }) => DECIDED.has(type));
    return { conditions: conditions.map(withoutTime), numbers: shownNumbers(shown) };
  }
  return { conditions: last.conditions.map(stated), numbers: numbersOf(last, shown) };
}

function stated({ type, status, reason, message }: StatedCondition): StatedCondition {
  return { type, status, reason, message };
}

function withoutTime(condition: ShownCondition): StatedCondition {
  const { observedGeneration } = condition;
  return observedGeneration === undefined ? stated(condition) : { ...stated(condition), observedGeneration };
}

function numbersOf(last: ScalerStatus, shown: JsonObject | null): StatusNumbers {
  const { decision } = last.record;
  const scaled = scaledAt(lastScale(last) ?? textIn(shown, 'lastScaleTime'));
  if (decision === null) return scaled;
  const metrics = currentMetrics(last);
  return {
    currentReplicas: decision.currentReplicas,
    desiredReplicas: decision.desiredReplicas,
    ...scaled,
    ...(metrics.length === 0 ? {} : { currentMetrics: metrics }),
  };
}

function scaledAt(lastScaleTime: string | null): StatusNumbers {
  return lastScaleTime === null ? {} : { lastScaleTime };
}

function lastScale({ lastRescale: { up, down } }: ScalerStatus): string | null {
  const instant = up !== null && down !== null ? latest(up, down) : (up ?? down);
  return instant === null ? null : inSeconds(instant);
}

/** The generation that was decided by when the condition was shown last. */
function generationOf(
  before: readonly ShownCondition[],
  { type }: StatedCondition,
): Pick<StatedCondition, 'observedGeneration'> {
  const observedGeneration = before.find((one) => one.type === type)?.observedGeneration;
  return observedGeneration === undefined ? {} : { observedGeneration };
}

function timed(condition: StatedCondition, before: readonly ShownCondition[], now: Instant): ShownCondition {
  const old = before.find(({ type }) => type === condition.type);
  const lastTransitionTime = old?.status === condition.status ? old.lastTransitionTime : inSeconds(now);
  return { ...condition, lastTransitionTime };
}

/** Cut off to seconds, as Kubernetes writes times. */
function inSeconds(instant: Instant): string {
  return formatInstant(instant).replace(/\.\d+Z$/, 'Z');
}

function cut(condition: StatedCondition): StatedCondition {
  const { message } = condition;
  if (message.length <= MAX_MESSAGE) return condition;
  return { ...condition, message: `${message.slice(0, MAX_MESSAGE - 3)}...` };
}
