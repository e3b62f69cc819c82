import type { PastDecision } from './result/decision.js';
import { describeFailure } from '../units/failure.js';
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
 * Returns a clause about the metrics without a value that count as 0, which otherwise look like an empty queue; empty:
 * there are none.
 */
export function readAsZero(decision: PastDecision | null): readonly string[] {
  const first = decision?.metrics.find((metric) => metric.readAsZero !== undefined);
  if (decision === null || first?.readAsZero === undefined) return [];
  const others = decision.metrics.filter((metric) => metric !== first && metric.readAsZero !== undefined);
  const rest = others.length === 0 ? '' : ` (and ${countOf(others.length, 'more metric')})`;
  return [`${first.name}: ${describeFailure(first.readAsZero)}, read as 0${rest}`];
}
