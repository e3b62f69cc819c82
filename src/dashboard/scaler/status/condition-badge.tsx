import type { VNode } from 'preact';
import { Badge } from '../../ui/badge.jsx';
import type { Tone } from '../../ui/tone.js';
import type { IconName } from '../../ui/icon-paths.js';
import type { Condition } from '../model/answers.js';

/** The status in which a condition needs no attention. */
const GOOD: Readonly<Record<Condition['type'], Condition['status']>> = {
  AbleToScale: 'True',
  ScalingActive: 'True',
  ScalingLimited: 'False',
  Held: 'False',
  TargetReached: 'True',
  MetricsUnique: 'True',
};

const STYLES = {
  good: { tone: 'good', icon: 'ok' },
  warn: { tone: 'warn', icon: 'warning' },
  bad: { tone: 'bad', icon: 'error' },
  unknown: { tone: 'quiet', icon: 'unknown' },
} as const satisfies Readonly<Record<string, { readonly tone: Tone; readonly icon: IconName }>>;

export function ConditionBadge({ condition: { type, status } }: { readonly condition: Condition }): VNode {
  const isGood = GOOD[type] === status;
  const isSevere = type === 'AbleToScale' || type === 'ScalingActive';
  const style =
    status === 'Unknown' ? STYLES.unknown : isGood ? STYLES.good : isSevere ? STYLES.bad : STYLES.warn;
  return <Badge {...style} text={`${type} ${status}`} />;
}
