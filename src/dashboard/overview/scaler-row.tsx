import { Component } from 'preact';
import type { VNode } from 'preact';
import type { OverviewRow } from '../../api/answers.js';
import { formatCount, formatMetric, UNKNOWN } from '../format/numbers.js';
import { Badge } from '../ui/badge.jsx';
import { Icon } from '../ui/icon.jsx';
import { scalerLink } from '../ui/links.js';
import { SEVERITY_STYLES } from '../ui/severities.js';
import { Sparkline } from '../ui/sparkline.jsx';
import { Time } from '../ui/time.jsx';
import { ratioOf } from './selection.js';
import { replicasText, shorten, sparklineLabel } from './row-texts.js';

interface ScalerRowProps {
  readonly row: OverviewRow;
  /** Position among the selected rows. */
  readonly index: number;
  readonly rowHeight: number;
  readonly nowMs: number;
  /** Changes when the row has changed. The row is then highlighted for a moment. */
  readonly newsAt: string | null;
}

/** Shows one scaler. It renders only if something has changed, because scrolling renders many rows. */
export class ScalerRow extends Component<ScalerRowProps> {
  override shouldComponentUpdate(next: ScalerRowProps): boolean {
    const { row, index, rowHeight, nowMs, newsAt } = this.props;
    return (
      next.row !== row ||
      next.index !== index ||
      next.rowHeight !== rowHeight ||
      next.nowMs !== nowMs ||
      next.newsAt !== newsAt
    );
  }

  override render({ row, index, rowHeight, nowMs, newsAt }: ScalerRowProps): VNode {
    return (
      <div
        class="scaler-row"
        role="row"
        // The header is row 1.
        aria-rowindex={index + 2}
        data-index={index}
        style={{ top: `${index * rowHeight}px` }}
      >
        <NameCell row={row} />
        <StateCell row={row} nowMs={nowMs} />
        <ReplicasCell row={row} newsAt={newsAt} />
        <div role="cell" class="cell-trend">
          <Sparkline values={row.replicas} width={96} height={28} label={sparklineLabel(row)} />
        </div>
        <MetricCell row={row} />
        <ReasonCell row={row} nowMs={nowMs} />
        <div role="cell" class="cell-changed muted">
          {row.changedAt === null ? UNKNOWN : <Time at={row.changedAt} nowMs={nowMs} show="distance" />}
        </div>
      </div>
    );
  }
}

function NameCell({ row: { namespace, name, kind, target } }: { readonly row: OverviewRow }): VNode {
  return (
    <div role="rowheader" class="cell-name">
      <a href={scalerLink(namespace, name)} title={`${namespace}/${name}`}>
        <bdi>{name}</bdi>
      </a>
      <span class="muted clipped" title={`${kind} ${target} in ${namespace}`}>
        <bdi>{namespace}</bdi>
        {target === name ? ` · ${kind}` : ` · ${kind} `}
        {target === name ? null : <bdi>{target}</bdi>}
      </span>
    </div>
  );
}

function StateCell({ row: { state }, nowMs }: { readonly row: OverviewRow; readonly nowMs: number }): VNode {
  const { tone, icon } = SEVERITY_STYLES[state.severity];
  return (
    <div role="cell" class="cell-state">
      {state.severity === 'ok' ? (
        <span class="state-ok">
          <Icon name={icon} />
          {state.name}
        </span>
      ) : (
        <Badge tone={tone} icon={icon} text={state.name} />
      )}
      {state.since === null || state.severity === 'ok' ? null : (
        <span class="muted">
          <Time at={state.since} nowMs={nowMs} show="distance" />
        </span>
      )}
    </div>
  );
}

function ReplicasCell({ row, newsAt }: { readonly row: OverviewRow; readonly newsAt: string | null }): VNode {
  const { current, desired, min, max } = row;
  const isChanging = desired !== null && desired !== current;
  return (
    <div role="cell" class="cell-replicas">
      {newsAt === null ? null : <span key={newsAt} class="news" />}
      <span class="replicas">
        <span class="visually-hidden">{replicasText(row)}</span>
        <span aria-hidden="true">
          {formatCount(current)}
          {isChanging ? (
            <>
              {' '}
              <Icon name="right" /> {formatCount(desired)}
            </>
          ) : null}
        </span>
      </span>
      <span class="muted">
        {min === null && max === null ? null : `${formatCount(min)} to ${formatCount(max)}`}
      </span>
    </div>
  );
}

/** Position of the target on the meter. */
const TARGET_AT = 2 / 3;

function MetricCell({ row: { metric, metrics } }: { readonly row: OverviewRow }): VNode {
  if (metric === null)
    return (
      <div role="cell" class="cell-metric">
        <span class="muted">{metrics === 0 ? 'No metric' : 'No value'}</span>
      </div>
    );
  const ratio = ratioOf(metric);
  const others = metrics > 1 ? ` · 1 of ${metrics}` : '';
  return (
    <div role="cell" class="cell-metric">
      <span class="metric-line">
        <span class="metric-value">{formatMetric(shorten(metric.value), metric)}</span>
        <span class="muted">
          <span class="visually-hidden">of a target of</span>
          <span aria-hidden="true">/</span> {formatMetric(metric.target, metric)}
        </span>
      </span>
      <span class="meter" aria-hidden="true">
        {ratio === null ? null : (
          <span
            class={ratio > 1 ? 'meter-value is-above' : 'meter-value'}
            style={{ width: `${Math.min(1, ratio * TARGET_AT) * 100}%` }}
          />
        )}
        <span class="meter-target" />
      </span>
      <span class="muted clipped" title={metric.name}>
        <bdi>{metric.name}</bdi>
        {others}
      </span>
    </div>
  );
}

function ReasonCell({
  row: {
    state: { cause, until },
  },
  nowMs,
}: {
  readonly row: OverviewRow;
  readonly nowMs: number;
}): VNode {
  if (cause === null)
    return (
      <div role="cell" class="cell-reason is-empty muted">
        {UNKNOWN}
      </div>
    );
  return (
    <div role="cell" class="cell-reason" title={cause}>
      <span class="two-lines">
        <bdi>{cause}</bdi>
      </span>
      {until === null ? null : (
        <span class="muted">
          {'until '}
          <Time at={until} nowMs={nowMs} />
        </span>
      )}
    </div>
  );
}
