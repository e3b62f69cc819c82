import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ScalerDetail } from '../../api/answers.js';
import { countOf } from '../../units/format.js';
import { formatLocal } from '../../units/short-time.js';
import { ApiError } from '../data/api-error.js';
import type { Api } from '../data/api.js';
import { decisionsRequest, snapshotRequest } from '../data/requests.js';
import { useAnswer } from '../data/use-answer.js';
import { CommandText, copyText } from '../ui/command-text.jsx';
import { formatCount } from '../ui/formats.js';
import { usePart } from '../ui/hooks.js';
import { Icon } from '../ui/icon.jsx';
import { announce } from '../ui/page.jsx';
import { FoldSection, LazyDetails } from '../ui/section.jsx';
import { EmptyView, Notice, PartMissing, Waiting } from '../ui/states.jsx';
import { Sentence, Time, useNow } from '../ui/time.jsx';
import { WaterfallView } from './chart/waterfall-view.jsx';
import { MetricResults, type MetricTargets, PodsView } from './decision-metrics.jsx';
import type { DecisionEntry, PastDecision } from './model/answers.js';
import { type ChartData, pointAt } from './model/chart-data.js';
import { explainCommand, snapshotFileName } from './model/commands.js';
import { buildWaterfall } from './model/decision-parts.js';
import { measuredOf } from './model/headline.js';
import type { Moment } from './model/use-history.js';
import { Cause, Headline } from './verdict-card.jsx';

interface DecisionProps {
  readonly api: Api;
  readonly detail: ScalerDetail;
  readonly data: ChartData;
  readonly moment: Moment;
}

/** Shows the decision at the selected time, or the last decision. */
export function DecisionSection(props: DecisionProps): VNode {
  const { api, moment, detail } = props;
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
      {moment.at === null ? (
        <DecisionView
          api={api}
          detail={detail}
          at={null}
          entry={detail}
          targets={detail.metrics}
          decidedAt={detail.at}
        />
      ) : (
        <SelectedDecision {...props} at={moment.at} />
      )}
    </FoldSection>
  );
}

interface SelectedDecisionProps extends DecisionProps {
  readonly at: string;
}

/** Shows the decision at a selected time. */
function SelectedDecision({ api, detail, data, at, moment }: SelectedDecisionProps): VNode {
  const request = decisionsRequest(detail.namespace, detail.name, { at, limit: 1 });
  const { value, error, refresh } = useAnswer(api, request);
  if (value === null) return <Waiting error={error} onRetry={refresh} />;
  const [entry] = value.items;
  if (entry === undefined)
    return (
      <EmptyView title="This decision is no longer kept">
        <p>
          Decisions are kept from <Time at={value.keptFrom} /> on.
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
        api={api}
        detail={detail}
        at={at}
        entry={entry}
        targets={targets.length === 0 ? detail.metrics : targets}
        decidedAt={entry.lastAt}
      />
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
      and pods are those of the last one.
    </p>
  );
}

interface DecisionViewProps {
  readonly api: Api;
  readonly detail: ScalerDetail;
  /** Time of the decision in RFC 3339; null: the last decision. */
  readonly at: string | null;
  readonly entry: Pick<DecisionEntry, 'decision' | 'outcome'>;
  readonly targets: MetricTargets;
  /** Time of the last cycle with this decision. When it changes, the snapshot is loaded again. */
  readonly decidedAt: string;
}

function DecisionView(props: DecisionViewProps): VNode {
  const { detail, targets } = props;
  const { decision, outcome } = props.entry;
  if (decision === null) return <p class="hint">There was no decision.</p>;
  return (
    <>
      <div class="decision-parts">
        <div>
          <h3>From the proposal to the result</h3>
          <WaterfallView waterfall={buildWaterfall(decision, outcome)} />
        </div>
        <div>
          <h3>Metrics</h3>
          <MetricResults decision={decision} targets={targets} queries={detail.queries} />
          <ForecastText decision={decision} />
          {decision.metrics.length === 0 ? null : (
            <LazyDetails class="arithmetic" summary="How each count was computed">
              <Arithmetic {...props} />
            </LazyDetails>
          )}
          <PodsView metrics={decision.metrics} />
        </div>
      </div>
      <DecisionActions {...props} />
    </>
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

/** Shows how each proposal was computed. */
function Arithmetic({ api, detail, at, decidedAt }: DecisionViewProps): VNode {
  const request = decisionSnapshot(detail, at);
  const { value, error, refresh } = useAnswer(api, request);
  const { part, hasFailed } = usePart(loadList, true);
  useEffect(refresh, [refresh, decidedAt]);
  if (hasFailed) return <PartMissing />;
  if (value === null || part === null)
    return <Waiting error={value === null ? error : null} onRetry={refresh} />;
  return <part.ArithmeticList snapshot={value} />;
}

const loadList = () => import('./arithmetic-list.jsx');

function decisionSnapshot({ namespace, name }: ScalerDetail, at: string | null) {
  return snapshotRequest(namespace, name, at === null ? {} : { at });
}

/** Offers the command that explains this decision, and its snapshot as a download. */
function DecisionActions({ api, detail, at }: DecisionViewProps): VNode {
  const code = useRef<HTMLElement>(null);
  const [message, setMessage] = useState<string | null>(null);
  useEffect(() => setMessage(null), [at]);
  const tell = (text: string): void => {
    setMessage(text);
    announce(text);
  };
  const command = explainCommand(detail, at);
  const copy = async (): Promise<void> => tell(await copyText(command, code.current));
  const download = async (): Promise<void> => {
    try {
      const snapshot = await api.read(decisionSnapshot(detail, at));
      save(JSON.stringify(snapshot, null, 2), snapshotFileName(detail, snapshot.now));
      tell('Downloaded. promscaler decide reads this file.');
    } catch (error) {
      tell(error instanceof ApiError ? error.message : 'The snapshot cannot be downloaded.');
    }
  };
  return (
    <div class="decision-actions">
      <CommandText code={code} text={command} />
      <button type="button" onClick={() => void copy()}>
        <Icon name="copy" /> Copy command
      </button>
      <button type="button" onClick={() => void download()}>
        <Icon name="download" /> Download snapshot
      </button>
      {message === null ? null : (
        <span class="hint">
          <Sentence text={message} />
        </span>
      )}
    </div>
  );
}

function save(text: string, fileName: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(url);
}
