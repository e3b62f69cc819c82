import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { FoldSection } from '../../ui/section.jsx';
import { PartMissing } from '../../ui/states.jsx';
import { Table } from '../../ui/table.jsx';
import { Time } from '../../ui/time.jsx';
import { usePart } from '../../ui/use-part.js';
import { Sentence } from '../../ui/sentence.jsx';
import { ConditionBadge } from './condition-badge.jsx';
import type { ConditionsProps } from './transitions.jsx';

export function ConditionsSection({ api, detail }: ConditionsProps): VNode {
  const [isOpen, setIsOpen] = useState(false);
  const { part, hasFailed } = usePart(loadTransitions, isOpen);
  return (
    <FoldSection title="Conditions">
      <Table
        caption="Conditions"
        columns={[
          { title: 'Condition' },
          { title: 'Reason' },
          { title: 'Message' },
          { title: 'Status since' },
        ]}
        rows={detail.conditions.map((condition) => ({
          key: condition.type,
          cells: [
            <ConditionBadge condition={condition} state={detail.state.name} />,
            <span class="condition-reason">{condition.reason}</span>,
            <Sentence text={condition.message} />,
            <Time at={condition.lastTransitionTime} show="ago" />,
          ],
        }))}
      />
      <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
        <summary>Transitions</summary>
        {hasFailed ? <PartMissing /> : null}
        {isOpen && part !== null ? <part.Transitions api={api} detail={detail} /> : null}
      </details>
    </FoldSection>
  );
}

const loadTransitions = () => import('./transitions.jsx');
