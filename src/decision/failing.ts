import { type Condition, conditionOf } from './result/condition.js';
import type { MetricResult, PastDecision } from './result/decision.js';
import { describeFailure, type Failure, isSameFailure } from '../units/failure.js';
import { countOf } from '../units/format.js';

/**
 * Returns whether a condition is a failure. A forbidden window, a target at 0, starting pods and a paused rollout are
 * not failures.
 */
export function isFailing({
  type,
  status,
  reason,
}: Readonly<Record<'type' | 'status' | 'reason', string>>): boolean {
  if (type === 'TargetReached') return status === 'False' && !EXPECTED_SHORTFALLS.has(reason);
  if (type === 'MetricsUnique') return status === 'False';
  if (type !== 'AbleToScale' && type !== 'ScalingActive') return false;
  return status !== 'True' && !reason.startsWith('Backoff') && !NO_FAILURES.has(reason);
}

const EXPECTED_SHORTFALLS: ReadonlySet<string> = new Set(['Starting', 'RolloutPaused']);
const NO_FAILURES: ReadonlySet<string> = new Set(['ScalingDisabled', 'NotEvaluated']);

/**
 * Returns the condition that says why the scaler cannot scale; undefined: it can, or another client has set the target
 * to 0 replicas (`ScalingDisabled`).
 */
export function cannotScale<C extends Readonly<Record<'type' | 'status' | 'reason', string>>>(
  conditions: readonly C[],
): C | undefined {
  const [able, active] = [conditionOf(conditions, 'AbleToScale'), conditionOf(conditions, 'ScalingActive')];
  return [able, active].find((one) => one !== undefined && isFailing(one));
}

/**
 * Returns the condition that says why the target or its pods could not be read, so that a cycle made no decision;
 * undefined: no condition says so.
 */
export function unreadTarget<C extends Readonly<Record<'reason', string>>>(
  conditions: readonly C[],
): C | undefined {
  return conditions.find(({ reason }) => reason === 'FailedGetScale' || reason === 'InvalidSelector');
}

/**
 * Returns whether the log reports a condition because something stops or delays scaling. Unlike `isFailing`, it also
 * returns true for a hold, a forbidden window, a target at 0 and a paused rollout.
 */
export function isDegraded({ type, status, reason }: Condition): boolean {
  switch (type) {
    case 'ScalingActive':
      return status !== 'True' && reason !== 'NotEvaluated';
    case 'AbleToScale':
    case 'MetricsUnique':
      return status !== 'True';
    case 'Held':
      return status === 'True' || reason === 'AnnotationIgnored';
    case 'ScalingLimited':
    case 'ForecastUseful':
      return false;
    case 'TargetReached':
      return status === 'False' && reason !== 'Starting';
    default:
      return type satisfies never;
  }
}

/** The start of the message of `ScalingActive` if a metric failed. The cause of a state omits it. */
export const NOT_CALCULATED = 'the replica count could not be calculated from ';

/**
 * Returns a clause about metrics that are read as 0 because they have no value; empty: there are none. Without the
 * clause, these metrics would look like empty queues.
 */
export function readAsZero(decision: PastDecision | null): readonly string[] {
  const first = decision?.metrics.find((metric) => metric.readAsZero !== undefined);
  if (decision === null || first?.readAsZero === undefined) return [];
  const others = decision.metrics.filter((metric) => metric !== first && metric.readAsZero !== undefined);
  const clause = `${first.name}: ${describeZero(first.readAsZero)}${moreMetrics(others.length)}`;
  // At 0 replicas, metrics of pods propose no count.
  const isStuck =
    decision.currentReplicas === 0 &&
    decision.metrics.every((metric) => metric.proposal === null || hasNoSeries(metric));
  return [isStuck ? `${clause}; without series, no metric starts the workload from 0 replicas` : clause];
}

/** Returns whether a metric counts as 0 because its query returned no series. */
export function hasNoSeries({ readAsZero: failure }: MetricResult): boolean {
  return failure?.reason === 'missing';
}

/** Returns the text for a metric that counts as 0 without a value: `no series, read as 0`. */
export function describeZero(failure: Failure): string {
  return `${describeFailure(failure)}, read as 0`;
}

/** Returns which metrics have no value, or only the value of the fallback, and why; null: there are none. */
export function missingMetrics(decision: PastDecision | null): string | null {
  const missing = (decision?.metrics ?? []).filter(
    ({ error, fallback }) => error !== null || fallback !== undefined,
  );
  const [first, second] = missing;
  if (first === undefined) return null;
  const { name, error, fallback } = first;
  const failure = fallback?.error ?? error;
  const isShared = missing.every((one) => isSameFailure(one.fallback?.error ?? one.error, failure));
  const isPair = missing.length === 2 && isShared && missing.every((one) => one.fallback === undefined);
  const names = isPair ? `${name} and ${second?.name ?? ''}` : name;
  const replaced =
    fallback === undefined ? '' : `; the fallback proposes ${countOf(fallback.replicas, 'replica')}`;
  const more = isPair ? '' : moreMetrics(missing.length - 1);
  const text = failure === null ? '' : describeFailure(failure);
  const isAll = isShared && missing.length === decision?.metrics.length;
  // A failure of a data source usually affects all metrics. The metrics are named only if it does not affect all.
  const cause =
    failure?.source === undefined
      ? `${names}: ${text}${more}${replaced}`
      : `${text}${isAll ? '' : `; no value for ${names}${more}`}${replaced}`;
  const isStuck = decision?.currentReplicas === 0 && decision.recommendedReplicas === null;
  const atZero = isStuck ? '; without a value, no metric starts the workload from 0 replicas' : '';
  return `${cause}${atZero}`;
}

function moreMetrics(count: number): string {
  return count === 0 ? '' : ` (and ${countOf(count, 'more metric')})`;
}

/** Why the target of a scaler cannot be read. Contains only what the remedies need. */
export interface TargetFailure {
  /** `deleted`: the scaler has read the object before. Null: the object may exist. */
  readonly absence: 'missing' | 'deleted' | null;
  /** The workload that the document may mean; null: there is none. A null `kind` is the kind of the target. */
  readonly suggestion: { readonly kind: string | null; readonly name: string } | null;
  /** Set if the kind of the target cannot be scaled. A null `group` means that the cluster serves the kind. */
  readonly unusableKind: { readonly group: string | null; readonly isGroupServed: boolean } | null;
}
