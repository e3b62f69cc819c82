import type { VNode } from 'preact';
import type { ScalerDetail, ScalerState } from '../../api/answers.js';
import { isFailing } from '../../decision/failing.js';
import { severityOf } from '../../decision/severity.js';
import type { Api } from '../data/api.js';
import { decisionsRequest } from '../data/requests.js';
import { useAnswer } from '../data/use-answer.js';
import { Badge } from '../ui/icon.jsx';
import { FoldSection, LazyDetails } from '../ui/section.jsx';
import { SEVERITY_STYLES } from '../ui/severities.js';
import { Waiting } from '../ui/states.jsx';
import { Table } from '../ui/table.jsx';
import { Sentence, Time } from '../ui/time.jsx';
import type { Condition } from './model/answers.js';
import { listTransitions } from './model/timeline.js';

interface ConditionsProps {
  readonly api: Api;
  readonly detail: ScalerDetail;
}

export function ConditionsSection({ api, detail }: ConditionsProps): VNode {
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
      <LazyDetails summary="Transitions">
        <Transitions api={api} detail={detail} />
      </LazyDetails>
    </FoldSection>
  );
}

const MOST_TRANSITIONS = 50;

function Transitions({ api, detail }: ConditionsProps): VNode {
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

interface ConditionBadgeProps {
  readonly condition: Condition;
  /** The state of the scaler with this condition; null: it is a past condition. */
  readonly state: ScalerState['name'] | null;
}

/**
 * Shows a condition. A failure and a hold have the color of the state that they cause, duplicate series, which cause
 * none, are a warning, and other conditions have no color.
 */
function ConditionBadge({ condition, state }: ConditionBadgeProps): VNode {
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
