import type { VNode } from 'preact';
import type { ScalerDetail } from '../../../api/answers.js';
import type { Api } from '../../data/api.js';
import { decisionsRequest } from '../../data/requests.js';
import { useAnswer } from '../../data/use-answer.js';
import { Waiting } from '../../ui/states.jsx';
import { Table } from '../../ui/table.jsx';
import { Time } from '../../ui/time.jsx';
import { listTransitions } from '../model/changes.js';
import { Sentence } from '../../ui/sentence.jsx';
import { ConditionBadge } from './condition-badge.jsx';

export interface ConditionsProps {
  readonly api: Api;
  readonly detail: ScalerDetail;
}

const MOST_TRANSITIONS = 50;

export function Transitions({ api, detail }: ConditionsProps): VNode {
  const request = decisionsRequest(detail.namespace, detail.name, { limit: 100 });
  const { value, error, refresh } = useAnswer(api, request);
  if (value === null) return <Waiting error={error} onRetry={refresh} />;
  const all = [...listTransitions(value.items)]
    .flatMap(([type, list]) => list.map((transition) => ({ type, ...transition })))
    .sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
    .slice(0, MOST_TRANSITIONS);
  if (all.length === 0) return <p class="hint">No transition is known yet.</p>;
  return (
    <>
      <Table
        caption="Transitions of the conditions, newest first"
        columns={[{ title: 'Time' }, { title: 'Condition' }, { title: 'Before' }, { title: 'Message' }]}
        rows={all.map(({ type, at, from, to }, index) => ({
          key: `${index} ${type} ${at}`,
          cells: [
            <Time at={at} />,
            <ConditionBadge condition={to} state={null} />,
            from === null ? 'first known' : `${from.status} ${from.reason}`,
            <Sentence text={`${to.reason}: ${to.message}`} />,
          ],
        }))}
      />
      <p class="hint">
        {all.length < MOST_TRANSITIONS ? '' : `The list has the newest ${MOST_TRANSITIONS}. `}Decisions are
        kept from <Time at={value.keptFrom} /> on.
      </p>
    </>
  );
}
