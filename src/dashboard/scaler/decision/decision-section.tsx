import type { VNode } from 'preact';
import type { Api } from '../../data/api.js';
import type { ScalerDetail } from '../../../api/answers.js';
import { decisionsRequest } from '../../data/requests.js';
import { useAnswer } from '../../data/use-answer.js';
import { formatCount } from '../../ui/numbers.js';
import { formatLocal } from '../../ui/times.js';
import { FoldSection } from '../../ui/section.jsx';
import { EmptyView, Notice, Waiting } from '../../ui/states.jsx';
import { Time } from '../../ui/time.jsx';
import { useNow } from '../../ui/use-now.js';
import { usePart } from '../../ui/use-part.js';
import type { DecisionEntry, Outcome, PastDecision } from '../model/answers.js';
import { pointAt } from '../model/chart-data.js';
import type { ChartData } from '../model/chart-data.js';
import { buildWaterfall } from '../model/waterfall.js';
import type { Moment } from '../model/use-history.js';
import { measuredOf } from '../model/headline.js';
import { Cause, Headline } from '../text/headline.jsx';
import { Sentence } from '../text/sentence.jsx';
import { ArithmeticSection } from './arithmetic-section.jsx';
import type { DecisionActionsProps } from './decision-actions.jsx';
import { MetricResults } from './metric-results.jsx';
import type { MetricTargets } from './metric-results.jsx';
import { PodsView } from './pods-view.jsx';
import { WaterfallView } from './waterfall-view.jsx';
import { countOf } from '../../../units/format.js';

interface DecisionSectionProps {
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
      {moment.at === null ? <LastDecision {...props} /> : <PastDecisionView {...props} at={moment.at} />}
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
      {decision === null ? null : <Actions api={api} scaler={detail} at={null} />}
    </>
  );
}

/** Loads the buttons after the decision is shown, because they are not needed earlier. */
function Actions(props: DecisionActionsProps): VNode | null {
  const { part } = usePart(loadActions, true);
  return part === null ? null : <part.DecisionActions {...props} />;
}

const loadActions = () => import('./decision-actions.jsx');

function PastDecisionView({
  api,
  detail,
  data,
  at,
  moment,
}: DecisionSectionProps & { readonly at: string }): VNode {
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
      {error === null ? null : <Notice>{error.message}</Notice>}
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
      {decision === null ? null : <Actions api={api} scaler={detail} at={at} />}
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

interface DecisionViewProps {
  readonly decision: PastDecision | null;
  readonly outcome: Outcome;
  readonly targets: MetricTargets;
  readonly queries: ScalerDetail['queries'];
  /** What to show below the metrics, if the decision has metrics. */
  readonly children: VNode;
}

function DecisionView({ decision, outcome, children, ...metrics }: DecisionViewProps): VNode {
  if (decision === null)
    return <p class="hint">There was no decision, so there are no steps, metrics or pods.</p>;
  return (
    <div class="decision-parts">
      <div>
        <h3>From the proposal to the result</h3>
        <WaterfallView waterfall={buildWaterfall(decision, outcome)} />
      </div>
      <div>
        <h3>Metrics</h3>
        <MetricResults decision={decision} {...metrics} />
        <ForecastText decision={decision} />
        {decision.metrics.length === 0 ? null : children}
        <PodsView metrics={decision.metrics} />
      </div>
    </div>
  );
}

function ForecastText({ decision: { forecast } }: { readonly decision: PastDecision }): VNode | null {
  if (forecast === undefined) return null;
  const { replicas, why, reactive, spentPercent } = forecast;
  return (
    <p dir="auto">
      Forecast: {replicas ?? 'none'}, {why}.
      {replicas === null
        ? null
        : ` Without the forecast: ${countOf(reactive, 'replica')}. The forecast adds ${spentPercent} % in 3 days.`}
    </p>
  );
}
