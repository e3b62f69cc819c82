import type { VNode } from 'preact';
import type { ScalerDetail } from '../../../api/answers.js';
import { countOf } from '../../../units/format.js';
import type { Outcome, PastDecision } from '../model/answers.js';
import { buildWaterfall } from '../model/waterfall.js';
import { MetricResults } from './metric-results.jsx';
import type { MetricTargets } from './metric-results.jsx';
import { PodsView } from './pods-view.jsx';
import { WaterfallView } from './waterfall-view.jsx';

interface DecisionViewProps {
  readonly decision: PastDecision | null;
  readonly outcome: Outcome;
  readonly targets: MetricTargets;
  readonly queries: ScalerDetail['queries'];
  /** What to show below the metrics, if the decision has metrics. */
  readonly children: VNode;
}

export function DecisionView({ decision, outcome, children, ...metrics }: DecisionViewProps): VNode {
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
      {replicas === null
        ? `The forecast adds no replicas to this decision: ${why}.`
        : `The forecast recommends ${countOf(replicas, 'replica')}: ${why}. Without the forecast: ${countOf(reactive, 'replica')}. In the last 3 days, the forecast added ${spentPercent} % to the replicas.`}
    </p>
  );
}
