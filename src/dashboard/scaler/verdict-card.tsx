import type { ComponentChildren, VNode } from 'preact';
import type { ScalerDetail, ScalerState } from '../../api/answers.js';
import { describeVersions } from '../../decision/rejection.js';
import { formatCount } from '../ui/formats.js';
import { GraphLink } from '../ui/graph-link.jsx';
import { usePart } from '../ui/hooks.js';
import { Icon } from '../ui/icon.jsx';
import { SEVERITY_STYLES } from '../ui/severities.js';
import { Sentence, Time, useNow } from '../ui/time.jsx';
import type { Outcome, PastDecision } from './model/answers.js';
import { measuredOf, verdictOf } from './model/headline.js';

interface VerdictCardProps {
  readonly detail: ScalerDetail;
}

/** Answers "Why did it not scale?" with the state, its cause, its end, and what the metrics measured. */
export function VerdictCard({ detail }: VerdictCardProps): VNode {
  const { state, decision, outcome, recommendation } = detail;
  // Without data, the reason repeats the failure of each metric. Failures that the cause contains are omitted here.
  const measured = measuredOf(detail.reason ?? '')
    .split('; ')
    .filter((part) => !(state.cause ?? '').includes(part.replace(/^\S+: /, '')))
    .join('; ');
  const { tone, icon } = SEVERITY_STYLES[state.severity];
  // Other states end automatically.
  const hasRemedies = ['cannot-follow', 'held'].includes(state.severity);
  const isRecommended = (recommendation?.changes ?? []).length > 0;
  const { part } = usePart(loadWhatToDo, hasRemedies || isRecommended);
  return (
    <section class={`card scaler-verdict tone-${tone}`} aria-label="The last decision">
      <h2>
        <Icon name={icon} />
        <Headline state={state} decision={decision} outcome={outcome} detail={detail} />
      </h2>
      <Cause state={state} />
      {measured === '' ? null : (
        <p>
          <Sentence text={measured} />
        </p>
      )}
      {part === null || !hasRemedies ? null : <part.WhatToDo detail={detail} />}
      {part === null || !isRecommended || recommendation === undefined ? null : (
        <part.Recommendation detail={detail} recommendation={recommendation} />
      )}
      <Facts detail={detail} />
    </section>
  );
}

const loadWhatToDo = () => import('./what-to-do.jsx');

function Facts({ detail }: VerdictCardProps): VNode {
  const { target, currentReplicas, minReplicas, maxReplicas, at, lastScaleUp, lastScaleDown } = detail;
  const versions = detail.generation === null ? null : describeVersions(detail, detail.rejections.length > 0);
  const ago = (time: string | null): VNode => <Time at={time} show="ago" />;
  return (
    <dl class="scaler-facts">
      <Fact name="Target">
        {target.kind} {target.name}
      </Fact>
      <Fact name="Replicas">
        <b>{formatCount(currentReplicas)}</b>, bounds {formatCount(minReplicas)} to {formatCount(maxReplicas)}
      </Fact>
      {versions === null ? null : <Fact name="Document">{versions}</Fact>}
      <Fact name={`Last ${detail.decision === null ? 'round' : 'decision'}`}>{ago(at)}</Fact>
      <Fact name={`${detail.state.name} since`}>{ago(detail.state.since)}</Fact>
      <Fact name="Last scale-up">{ago(lastScaleUp)}</Fact>
      <Fact name="Last scale-down">{ago(lastScaleDown)}</Fact>
      {detail.grafanaUrl === undefined ? null : (
        <Fact name="Grafana">
          <GraphLink url={detail.grafanaUrl} what="Grafana" />
        </Fact>
      )}
    </dl>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd dir="auto">{children}</dd>
    </div>
  );
}

interface HeadlineProps {
  readonly state: ScalerState;
  readonly decision: PastDecision | null;
  readonly outcome: Outcome;
  /** The scaler, if `state` is its current state; null: it is a past state. */
  readonly detail: ScalerDetail | null;
}

/** Shows a state, its end and the result: `Paused until 11:45:41 (in 24 min): stays at 3, not 6`. */
export function Headline({ state, decision, outcome, detail }: HeadlineProps): VNode {
  const { name, until, end, result } = verdictOf(state, decision, outcome, detail);
  return (
    <span dir="auto">
      {name}
      {until === null ? null : <Until at={until} />}
      {end === null ? '' : ` until ${end}`}: <Sentence text={result} />
    </span>
  );
}

/** Shows a time. If the time is in the future, also shows how far it is from now. */
function Until({ at }: { readonly at: string }): VNode {
  const isComing = useNow((nowMs) => Date.parse(at) > nowMs);
  return (
    <>
      {' until '}
      <Time at={at} />
      {isComing ? [' (', <Time at={at} show="distance" />, ')'] : null}
    </>
  );
}

export function Cause({ state: { cause } }: Pick<HeadlineProps, 'state'>): VNode | null {
  return cause === null ? null : (
    <p class="verdict-sentence">
      <Sentence text={cause} />
    </p>
  );
}
