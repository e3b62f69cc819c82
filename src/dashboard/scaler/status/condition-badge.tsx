import type { VNode } from 'preact';
import type { ScalerState } from '../../../api/answers.js';
import { isFailing } from '../../../decision/failing.js';
import { Badge } from '../../ui/icon.jsx';
import type { Condition } from '../model/answers.js';

/** Reasons of `Held` that are red: the state is then `Conflict`, in which the scaler cannot follow its load. */
const CONFLICTS: ReadonlySet<string> = new Set(['ConflictingScaler', 'ScaleOverridden']);

interface ConditionBadgeProps {
  readonly condition: Condition;
  /** The state of the scaler with this condition; null: it is a past condition. */
  readonly state: ScalerState['name'] | null;
}

/** Shows a condition. A failure and a hold have the color of the state that they cause; other conditions have none. */
export function ConditionBadge({ condition, state }: ConditionBadgeProps): VNode {
  const { type, status, reason } = condition;
  const text = `${type} ${status}`;
  const isLimited = type === 'ScalingLimited' && status === 'True';
  if (isFailing(condition) || CONFLICTS.has(reason) || (isLimited && state === 'AtMaximum'))
    return <Badge tone="bad" icon="error" text={text} />;
  if (type === 'Held' && status === 'True') return <Badge tone="warn" icon="lock" text={text} />;
  if (isLimited) return <Badge tone="quiet" icon="lock" text={text} />;
  return <Badge tone="quiet" icon={status === 'Unknown' ? 'unknown' : 'ok'} text={text} />;
}
