import type { ObjectVerdict } from '../../config/add-objects.js';
import { textIn, type JsonObject } from '../../kubernetes/api/json.js';
import type { ScalerObject } from '../../kubernetes/scaler-objects/scaler-object.js';
import type { ScalerStatus } from '../../telemetry/ledger.js';
import { cleanText } from '../../units/clean-text.js';
import { formatInstant, latest } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import { accepted } from './accepted.js';
import { currentMetrics } from './current-metrics.js';
import { metricTargets } from './metric-targets.js';
import { storedConditions, storedNumbers } from './object-status.js';
import type { ObjectStatus, TimedCondition, UntimedCondition, StatusNumbers } from './object-status.js';
import { readyOf } from './ready.js';

export interface StatusInput {
  readonly object: ScalerObject;
  readonly verdict: ObjectVerdict;
  /** The result of the last cycle of this process; null before the first one. */
  readonly last: ScalerStatus | null;
  readonly now: Instant;
}

const MAX_MESSAGE_LENGTH = 1024;

const CYCLE_CONDITIONS: ReadonlySet<string> = new Set([
  'AbleToScale',
  'ScalingActive',
  'ScalingLimited',
  'Held',
  'TargetReached',
  'MetricsUnique',
]);

/**
 * Returns the wanted status of an object. A condition keeps its `lastTransitionTime` from the stored status until its
 * status changes, so a restart does not reset it. Before the first cycle of this process, the stored results of an
 * earlier process stay. If no version of the document is in effect, they are removed.
 */
export function statusOf({ object, verdict, last, now }: StatusInput): ObjectStatus {
  const { generation: observedGeneration, status: stored } = object;
  const acceptance = { ...accepted(verdict), observedGeneration };
  const { conditions: decided, numbers } = cycleResult(verdict.scaler === null ? 'nothing' : last, stored);
  const isCurrent = acceptance.status === 'False' || last?.record.scaler === verdict.scaler;
  const before = storedConditions(stored);
  const about = decided.map((condition) =>
    acceptance.status === 'True' && isCurrent
      ? { ...condition, observedGeneration }
      : // Without a generation, `kubectl wait` would take the condition for one of the current generation.
        { ...generationOf(before, condition), ...condition },
  );
  const storedReady = before.find(({ type }) => type === 'Ready');
  const ready =
    isCurrent || storedReady === undefined
      ? { ...readyOf(acceptance, decided), observedGeneration }
      : // It describes the previous document, so clients that wait for the new one keep waiting.
        withoutTime(storedReady);
  const own = [acceptance, ...about, ready];
  const foreign = before.filter(
    ({ type }) => !CYCLE_CONDITIONS.has(type) && own.every((one) => one.type !== type),
  );
  return {
    observedGeneration,
    ...numbers,
    conditions: [...own.map((condition) => timed(truncate(condition), before, now)), ...foreign],
  };
}

function cycleResult(
  last: ScalerStatus | null | 'nothing',
  stored: JsonObject | null,
): { readonly conditions: readonly UntimedCondition[]; readonly numbers: StatusNumbers } {
  if (last === 'nothing') return { conditions: [], numbers: scaledAt(textIn(stored, 'lastScaleTime')) };
  if (last === null) {
    const conditions = storedConditions(stored).filter(({ type }) => CYCLE_CONDITIONS.has(type));
    return { conditions: conditions.map(withoutTime), numbers: storedNumbers(stored) };
  }
  return { conditions: last.conditions.map(untimed), numbers: numbersOf(last, stored) };
}

function untimed({ type, status, reason, message }: UntimedCondition): UntimedCondition {
  return { type, status, reason, message };
}

function withoutTime(condition: TimedCondition): UntimedCondition {
  const { observedGeneration } = condition;
  return observedGeneration === undefined
    ? untimed(condition)
    : { ...untimed(condition), observedGeneration };
}

function numbersOf(last: ScalerStatus, stored: JsonObject | null): StatusNumbers {
  const { decision, scaler } = last.record;
  const { scaleTargetRef } = scaler.spec;
  const { minReplicas, maxReplicas } = decision ?? scaler.spec;
  const scaled = {
    ...scaledAt(lastScale(last) ?? textIn(stored, 'lastScaleTime')),
    reference: `${scaleTargetRef.kind}/${scaleTargetRef.name}`,
    targets: metricTargets(last),
    minReplicas,
    maxReplicas,
  };
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

function generationOf(
  before: readonly TimedCondition[],
  { type }: UntimedCondition,
): Pick<UntimedCondition, 'observedGeneration'> {
  const observedGeneration = before.find((one) => one.type === type)?.observedGeneration;
  return observedGeneration === undefined ? {} : { observedGeneration };
}

function timed(condition: UntimedCondition, before: readonly TimedCondition[], now: Instant): TimedCondition {
  const old = before.find(({ type }) => type === condition.type);
  const lastTransitionTime = old?.status === condition.status ? old.lastTransitionTime : inSeconds(now);
  return { ...condition, lastTransitionTime };
}

/** Without milliseconds, as in Kubernetes. */
function inSeconds(instant: Instant): string {
  return formatInstant(instant).replace(/\.\d+Z$/, 'Z');
}

function truncate(condition: UntimedCondition): UntimedCondition {
  const message = cleanText(condition.message);
  if (message.length <= MAX_MESSAGE_LENGTH) return { ...condition, message };
  return { ...condition, message: `${message.slice(0, MAX_MESSAGE_LENGTH - 3)}...` };
}
