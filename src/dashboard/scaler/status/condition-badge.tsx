import type { VNode } from 'preact';
import { isFailing } from '../../../decision/failing.js';
import { Badge } from '../../ui/icon.jsx';
import type { Condition } from '../model/answers.js';

/** A hold for these reasons is the state `Conflict`: the scaler cannot follow its load. */
const CONFLICTS: ReadonlySet<string> = new Set(['ConflictingScaler', 'ScaleOverridden']);

/** Shows a condition. Only a failure and a hold are colored, as the state that they cause. */
export function ConditionBadge({ condition }: { readonly condition: Condition }): VNode {
  const { type, status, reason } = condition;
  const text = `${type} ${status}`;
  if (isFailing(condition) || CONFLICTS.has(reason)) return <Badge tone="bad" icon="error" text={text} />;
  if (type === 'Held' && status === 'True') return <Badge tone="warn" icon="lock" text={text} />;
  return <Badge tone="quiet" icon={status === 'Unknown' ? 'unknown' : 'ok'} text={text} />;
}
