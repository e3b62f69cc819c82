import type { VNode } from 'preact';
import { isFailing } from '../../../decision/failing.js';
import { Badge } from '../../ui/icon.jsx';
import type { Condition } from '../model/answers.js';

/** Shows a condition. Only a failure and a hold are colored. */
export function ConditionBadge({ condition }: { readonly condition: Condition }): VNode {
  const { type, status } = condition;
  const text = `${type} ${status}`;
  if (isFailing(condition)) return <Badge tone="bad" icon="error" text={text} />;
  if (type === 'Held' && status === 'True') return <Badge tone="warn" icon="lock" text={text} />;
  return <Badge tone="quiet" icon={status === 'Unknown' ? 'unknown' : 'ok'} text={text} />;
}
