import type { Condition } from './result/condition.js';

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
 * Returns whether the log reports a condition, because something stops or delays scaling. Unlike `isFailing`, that
 * includes a hold, a forbidden window, a target at 0 and a paused rollout.
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
