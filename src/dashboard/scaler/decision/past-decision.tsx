import type { VNode } from 'preact';
import type { ScalerDetail } from '../../../api/answers.js';
import type { Api } from '../../data/api.js';
import { decisionsRequest } from '../../data/requests.js';
import { useAnswer } from '../../data/use-answer.js';
import { formatCount } from '../../ui/numbers.js';
import { EmptyView, Notice, Waiting } from '../../ui/states.jsx';
import { Time } from '../../ui/time.jsx';
import type { DecisionEntry } from '../model/answers.js';
import { pointAt } from '../model/chart-data.js';
import type { ChartData } from '../model/chart-data.js';
import { measuredOf } from '../model/headline.js';
import type { Moment } from '../model/use-history.js';
import { Cause, Headline } from '../text/headline.jsx';
import { Sentence } from '../../ui/sentence.jsx';
import { ArithmeticSection } from './arithmetic-section.jsx';
import { DecisionActions } from './decision-actions.jsx';
import { DecisionView } from './decision-view.jsx';

export interface DecisionProps {
  readonly api: Api;
  readonly detail: ScalerDetail;
  readonly data: ChartData;
  readonly moment: Moment;
}

interface PastDecisionProps extends DecisionProps {
  readonly at: string;
}

/** Shows the decision at a selected time. */
export function PastDecision({ api, detail, data, at, moment }: PastDecisionProps): VNode {
  const request = decisionsRequest(detail.namespace, detail.name, { at, limit: 1 });
  const { value, error, refresh } = useAnswer(api, request);
  if (value === null) return <Waiting error={error} onRetry={refresh} />;
  const [entry] = value.items;
  if (entry === undefined)
    return (
      <EmptyView title="This decision is no longer kept">
        <p>
          Decisions are kept from <Time at={value.keptFrom} /> on. The charts show the replicas and metrics of
          that moment.
        </p>
      </EmptyView>
    );
  const index = moment.second === null ? null : pointAt(data, moment.second);
  const targets = data.metrics.map(({ metric, unit, target }) => ({
    metric,
    unit,
    target: index === null ? null : (target[index] ?? null),
  }));
  const { decision, outcome, state } = entry;
  return (
    <>
      {error === null ? null : (
        <Notice>
          <Sentence text={error.message} />
        </Notice>
      )}
      <div class="decision-sentence">
        <h3>
          <Headline state={state} decision={decision} outcome={outcome} detail={null} />
        </h3>
        <Cause state={state} />
        <p>
          <Sentence text={measuredOf(decision?.reason ?? '')} />
        </p>
      </div>
      <Period entry={entry} />
      <DecisionView
        decision={decision}
        outcome={outcome}
        targets={targets.length === 0 ? detail.metrics : targets}
        queries={detail.queries}
      >
        <ArithmeticSection api={api} scaler={detail} at={at} decidedAt={entry.lastAt} />
      </DecisionView>
      {decision === null ? null : <DecisionActions api={api} scaler={detail} at={at} />}
    </>
  );
}

function Period({ entry }: { readonly entry: DecisionEntry }): VNode {
  const { firstAt, lastAt, count } = entry;
  if (count === 1)
    return (
      <p class="hint">
        Decided at <Time at={lastAt} />, once
      </p>
    );
  return (
    <p class="hint">
      The same decision {formatCount(count)} times, from <Time at={firstAt} /> to <Time at={lastAt} />. Values
      and pods are from the last of these decisions.
    </p>
  );
}
