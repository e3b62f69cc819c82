import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { ScalerDetail } from '../../data/answers.js';
import type { Api } from '../../data/api.js';
import { decisionsRequest } from '../../data/requests.js';
import { useAnswer } from '../../data/use-answer.js';
import { Badge } from '../../ui/badge.jsx';
import type { Tone } from '../../ui/badge.jsx';
import type { IconName } from '../../ui/icon.jsx';
import { Section } from '../../ui/section.jsx';
import { Waiting } from '../../ui/states.jsx';
import { Table } from '../../ui/table.jsx';
import { Time } from '../../ui/time.jsx';
import type { Condition } from '../model/answers.js';
import { listTransitions } from '../model/transitions.js';
import { Sentence } from '../text/sentence.jsx';

interface ConditionsSectionProps {
  readonly api: Api;
  readonly detail: ScalerDetail;
  readonly nowMs: number;
}

export function ConditionsSection({ api, detail, nowMs }: ConditionsSectionProps): VNode {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <Section title="Conditions">
      <Table
        caption="Conditions"
        columns={[{ title: 'Condition' }, { title: 'Reason' }, { title: 'Message' }, { title: 'Since' }]}
        rows={detail.conditions.map((condition) => ({
          key: condition.type,
          cells: [
            <ConditionBadge condition={condition} />,
            <span class="condition-reason">{condition.reason}</span>,
            <Sentence text={condition.message} nowMs={nowMs} />,
            <Time at={condition.lastTransitionTime} nowMs={nowMs} show="distance" />,
          ],
        }))}
      />
      <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
        <summary>Transitions</summary>
        {isOpen ? <Transitions api={api} detail={detail} nowMs={nowMs} /> : null}
      </details>
    </Section>
  );
}

const MOST_TRANSITIONS = 50;

function Transitions({ api, detail, nowMs }: ConditionsSectionProps): VNode {
  const request = decisionsRequest(detail.namespace, detail.name, { limit: 100 });
  const { value, error, refresh } = useAnswer(api, request);
  if (value === null) return <Waiting error={error} onRetry={refresh} />;
  const all = [...listTransitions(value.items)]
    .flatMap(([type, list]) => list.map((transition) => ({ type, ...transition })))
    .sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
    .slice(0, MOST_TRANSITIONS);
  if (all.length === 0) return <p class="hint">No transition is known yet.</p>;
  return (
    <Table
      caption="Transitions of the conditions, newest first"
      columns={[{ title: 'Time' }, { title: 'Condition' }, { title: 'Before' }, { title: 'Message' }]}
      rows={all.map(({ type, at, from, to }, index) => ({
        key: `${index} ${type} ${at}`,
        cells: [
          <Time at={at} nowMs={nowMs} />,
          <ConditionBadge condition={to} />,
          from === null ? 'first known' : `${from.status} ${from.reason}`,
          <Sentence text={`${to.reason}: ${to.message}`} nowMs={nowMs} />,
        ],
      }))}
    />
  );
}

/** The status in which a condition is nothing to worry about. */
const GOOD: Readonly<Record<Condition['type'], Condition['status']>> = {
  AbleToScale: 'True',
  ScalingActive: 'True',
  ScalingLimited: 'False',
  Held: 'False',
  TargetReached: 'True',
  MetricsUnique: 'True',
};

const LOOKS = {
  good: { tone: 'good', icon: 'ok' },
  warn: { tone: 'warn', icon: 'warning' },
  bad: { tone: 'bad', icon: 'error' },
  unknown: { tone: 'quiet', icon: 'unknown' },
} as const satisfies Readonly<Record<string, { readonly tone: Tone; readonly icon: IconName }>>;

function ConditionBadge({ condition: { type, status } }: { readonly condition: Condition }): VNode {
  const isGood = GOOD[type] === status;
  const isSevere = type === 'AbleToScale' || type === 'ScalingActive';
  const look = status === 'Unknown' ? LOOKS.unknown : isGood ? LOOKS.good : isSevere ? LOOKS.bad : LOOKS.warn;
  return <Badge {...look} text={`${type} ${status}`} />;
}
