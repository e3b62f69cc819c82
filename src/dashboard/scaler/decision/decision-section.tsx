import type { VNode } from 'preact';
import type { Api } from '../../data/api.js';
import type { ScalerDetail } from '../../../api/answers.js';
import { formatLocal } from '../../ui/times.js';
import { FoldSection } from '../../ui/section.jsx';
import { Time } from '../../ui/time.jsx';
import { useNow } from '../../ui/use-now.js';
import type { ChartData } from '../model/chart-data.js';
import type { Moment } from '../model/use-history.js';
import { ArithmeticSection } from './arithmetic-section.jsx';
import { DecisionActions } from './decision-actions.jsx';
import { DecisionView } from './decision-view.jsx';
import { PastDecision } from './past-decision.jsx';

export interface DecisionSectionProps {
  readonly api: Api;
  readonly detail: ScalerDetail;
  readonly data: ChartData;
  readonly moment: Moment;
}

/** Shows the decision at the selected time, or the last one. */
export function DecisionSection(props: DecisionSectionProps): VNode {
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

function LastDecision({ api, detail }: DecisionSectionProps): VNode {
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
