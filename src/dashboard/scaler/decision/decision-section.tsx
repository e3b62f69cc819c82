import type { VNode } from 'preact';
import { formatLocal } from '../../../units/short-time.js';
import { FoldSection } from '../../ui/section.jsx';
import { Time } from '../../ui/time.jsx';
import { useNow } from '../../ui/use-now.js';
import { ArithmeticSection } from './arithmetic-section.jsx';
import { DecisionActions } from './decision-actions.jsx';
import { DecisionView } from './decision-view.jsx';
import { PastDecision } from './past-decision.jsx';
import type { DecisionProps } from './past-decision.jsx';

/** Shows the decision at the selected time, or the last decision. */
export function DecisionSection(props: DecisionProps): VNode {
  const { moment, detail } = props;
  const { second } = moment;
  const title = useNow((nowMs) =>
    second === null ? 'Last decision' : `Decision at ${formatLocal(second * 1000, nowMs)}`,
  );
  return (
    <FoldSection
      title={title}
      isOpen={second !== null}
      aside={
        second === null ? (
          <span class="hint">
            <Time at={detail.at} />
          </span>
        ) : (
          <button type="button" onClick={() => moment.select(null)}>
            Show the last decision
          </button>
        )
      }
    >
      {moment.at === null ? <LastDecision {...props} /> : <PastDecision {...props} at={moment.at} />}
    </FoldSection>
  );
}

function LastDecision({ api, detail }: DecisionProps): VNode {
  const { decision, outcome } = detail;
  return (
    <>
      <DecisionView decision={decision} outcome={outcome} targets={detail.metrics} queries={detail.queries}>
        <ArithmeticSection api={api} scaler={detail} at={null} decidedAt={detail.at} />
      </DecisionView>
      {decision === null ? null : <DecisionActions api={api} scaler={detail} at={null} />}
    </>
  );
}
