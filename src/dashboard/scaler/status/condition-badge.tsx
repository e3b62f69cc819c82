import type { VNode } from 'preact';
import { isFailing } from '../../../decision/failing.js';
import { Badge } from '../../ui/icon.jsx';
import type { Condition } from '../model/answers.js';

/** Reasons of `Held` that are red: the state is then `Conflict`, in which the scaler cannot follow its load. */
const CONFLICTS: ReadonlySet<string> = new Set(['ConflictingScaler', 'ScaleOverridden']);

/** Shows a condition. A failure and a hold have the color of the state that they cause; other conditions have none. */
export function ConditionBadge({ condition }: { readonly condition: Condition }): VNode {
  const { type, status, reason } = condition;
  const text = `${type} ${status}`;
  if (isFailing(condition) || CONFLICTS.has(reason)) return <Badge tone="bad" icon="error" text={text} />;
  if (type === 'Held' && status === 'True') return <Badge tone="warn" icon="lock" text={text} />;
  return <Badge tone="quiet" icon={status === 'Unknown' ? 'unknown' : 'ok'} text={text} />;
}
