import type { VNode } from 'preact';
import type { ScalerState } from '../../../api/answers.js';
import { severityOf } from '../../../decision/severity.js';
import { Badge } from '../../ui/icon.jsx';
import { SEVERITY_STYLES } from '../../ui/severities.js';
import type { Condition } from '../model/answers.js';

interface ConditionBadgeProps {
  readonly condition: Condition;
  /** The state of the scaler with this condition; null: it is a past condition. */
  readonly state: ScalerState['name'] | null;
}

/** Shows a condition. A failure and a hold have the color of the state that they cause; other conditions have none. */
export function ConditionBadge({ condition, state }: ConditionBadgeProps): VNode {
  const { type, status } = condition;
  const severity = severityOf(condition, state);
  const isLimited = type === 'ScalingLimited' && status === 'True';
  const icon = isLimited ? 'lock' : status === 'Unknown' ? 'unknown' : 'ok';
  const style = severity === null ? ({ tone: 'quiet', icon } as const) : SEVERITY_STYLES[severity];
  return <Badge tone={style.tone} icon={style.icon} text={`${type} ${status}`} />;
}
