import type { ConditionType, LimitName } from '../../decision/result/decision.js';
import { pauseMessage, reasonOf, rescaleDirection, limitsOf } from '../../telemetry/cycle-record.js';
import { conditionOf } from '../../telemetry/ledger.js';
import type { ScalerStatus, TimedCondition } from '../../telemetry/ledger.js';
import { EXPECTED_SHORTFALLS, isFailing } from '../../telemetry/service-events.js';
import type { ScalerState } from '../../api/answers.js';

interface FoundState {
  readonly state: ScalerState;
  readonly message: string;
}

/** Returns the states of a scaler, the most urgent first, each with its reason. */
export function statesOf(status: ScalerStatus): readonly FoundState[] {
  const found: FoundState[] = [];
  for (const [state, find] of FINDERS) {
    const message = find(status);
    if (message !== null) found.push({ state, message });
  }
  return found;
}

type Finder = (status: ScalerStatus) => string | null;

const FINDERS: readonly (readonly [ScalerState, Finder])[] = [
  ['failing', failure],
  ['conflict', conflict],
  ['at-maximum', maximum],
  ['target-not-reached', shortfall],
  ['paused', ({ record: { pause } }) => (pause === null ? null : pauseMessage(pause))],
  ['dry-run', dryRun],
  ['waiting', waiting],
  ['scaling', scaling],
];

function failure({ conditions, record, metricErrors }: ScalerStatus): string | null {
  const failing = conditions.find(
    (one) => (one.type === 'AbleToScale' || one.type === 'ScalingActive') && isFailing(one),
  );
  if (failing !== undefined) return textOf(failing);
  if (record.outcome.kind === 'failed') return record.outcome.message;
  for (const [metric, error] of metricErrors) if (error !== null) return `${metric}: ${error}`;
  return null;
}

/** Returns the other autoscaler or client that sets the replicas of the target. */
export function conflict(status: ScalerStatus): string | null {
  const writer = status.record.conflictingWriter;
  if (writer !== undefined) return writer.message;
  const held = trueCondition(status, 'Held');
  return held?.reason === 'ConflictingScaler' || held?.reason === 'ScaleOverridden' ? textOf(held) : null;
}

/** A fixed count (equal bounds) is at its maximum only if more replicas are recommended. */
function maximum({ record: { decision } }: ScalerStatus): string | null {
  if (decision === null || decision.desiredReplicas < decision.maxReplicas) return null;
  const { maxReplicas, minReplicas, recommendedReplicas } = decision;
  const isLimited = (recommendedReplicas ?? 0) > maxReplicas;
  if (!isLimited && minReplicas === maxReplicas) return null;
  return isLimited
    ? `${recommendedReplicas} recommended, the maximum is ${maxReplicas}`
    : `the maximum is ${maxReplicas}`;
}

function shortfall(status: ScalerStatus): string | null {
  const reached = conditionOf(status.conditions, 'TargetReached');
  return reached !== undefined && isFailing(reached) ? textOf(reached) : null;
}

function dryRun({ record: { dryRun: isDryRun, outcome } }: ScalerStatus): string | null {
  if (!isDryRun) return null;
  return outcome.kind === 'dry-run' && outcome.from !== null && outcome.to !== null
    ? `would scale from ${outcome.from} to ${outcome.to}`
    : 'decides without changing the replicas';
}

/** A count at a bound waits for nothing. */
const BOUNDS: ReadonlySet<LimitName> = new Set(['min_replicas', 'max_replicas']);

function waiting(status: ScalerStatus): string | null {
  const { record } = status;
  if (record.outcome.kind === 'held') return record.outcome.message;
  const limit = limitsOf(record).findLast((step) => !BOUNDS.has(step.limit));
  if (limit !== undefined) return limit.reason;
  const held = trueCondition(status, 'Held');
  return held?.reason === 'StateDegraded' ? textOf(held) : null;
}

function scaling(status: ScalerStatus): string | null {
  const { record } = status;
  const { from, to } = record.outcome;
  if (rescaleDirection(record.outcome) !== null)
    return `scaled from ${from} to ${to}: ${reasonOf(record) ?? ''}`;
  const reached = conditionOf(status.conditions, 'TargetReached');
  return reached?.status === 'False' && EXPECTED_SHORTFALLS.has(reached.reason) ? textOf(reached) : null;
}

function trueCondition(status: ScalerStatus, type: ConditionType): TimedCondition | undefined {
  const found = conditionOf(status.conditions, type);
  return found?.status === 'True' ? found : undefined;
}

function textOf({ reason, message }: TimedCondition): string {
  return message === '' ? reason : message;
}
