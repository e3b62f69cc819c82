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
