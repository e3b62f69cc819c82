import type { VNode } from 'preact';
import type { ScalerState } from '../../../api/answers.js';
import { isFailing } from '../../../decision/failing.js';
import { severityOf } from '../../../decision/severity.js';
import { Badge } from '../../ui/icon.jsx';
import { SEVERITY_STYLES } from '../../ui/severities.js';
import type { Condition } from '../model/answers.js';

interface ConditionBadgeProps {
  readonly condition: Condition;
  /** The state of the scaler with this condition; null: it is a past condition. */
  readonly state: ScalerState['name'] | null;
}

/**
 * Shows a condition. A failure and a hold have the color of the state that they cause, duplicate series, which cause
 * none, are a warning, and other conditions have no color.
 */
export function ConditionBadge({ condition, state }: ConditionBadgeProps): VNode {
  const { type, status } = condition;
  const severity = severityOf(condition, state);
  const style = severity === null ? styleWithoutState(condition) : SEVERITY_STYLES[severity];
  return <Badge tone={style.tone} icon={style.icon} text={`${type} ${status}`} />;
}

function styleWithoutState(condition: Condition) {
  const { type, status } = condition;
  if (isFailing(condition)) return { tone: 'warn', icon: 'warning' } as const;
  const isLimited = type === 'ScalingLimited' && status === 'True';
  return { tone: 'quiet', icon: isLimited ? 'lock' : status === 'Unknown' ? 'unknown' : 'ok' } as const;
}
