import { Component, type HTMLAttributes, type VNode } from 'preact';
import type { OverviewRow } from '../../api/answers.js';
import { formatCount, formatLeft, formatMetric, formatSince, parseTime, UNKNOWN } from '../ui/formats.js';
import { Badge, Icon } from '../ui/icon.jsx';
import { scalerLink } from '../ui/links.js';
import { SEVERITY_STYLES } from '../ui/severities.js';
import { Sparkline } from '../ui/sparkline.jsx';
import { Sentence, TimeText, useNow } from '../ui/time.jsx';
import { exactTimes, replicasText, shorten, sparklineLabel } from './row-texts.js';
import { type ColumnName, percentOf } from './selection.js';

interface ScalerRowProps {
  readonly row: OverviewRow;
  /** Position among the selected rows. */
  readonly index: number;
  /** Distance from the top of the first row in pixels. */
  readonly top: number;
  /** Whether the row has no cause. */
  readonly isShort: boolean;
  readonly columns: readonly ColumnName[];
  /** Time of the last change of the row. When it changes, the row is highlighted for a moment. */
  readonly newsAt: string | null;
}

/** Returns the attributes of a table row. `aria-rowindex` starts at 2, because the header is row 1. */
export function placeOf(
  index: number,
  top: number,
): HTMLAttributes<HTMLDivElement> & { readonly 'data-index': number } {
  return {
    role: 'row',
    'aria-rowindex': index + 2,
    'data-index': index,
    style: { top: `${top}px` },
  };
}

/** Shows a scaler. It renders only if its props have changed: otherwise scrolling would render all rows. */
export class ScalerRow extends Component<ScalerRowProps> {
  override shouldComponentUpdate(next: ScalerRowProps): boolean {
    const { row, index, top, newsAt, columns, isShort } = this.props;
    return (
      next.row !== row ||
      next.index !== index ||
      next.top !== top ||
      next.newsAt !== newsAt ||
      next.isShort !== isShort ||
      next.columns !== columns
    );
  }

  override render({ row, index, top, newsAt, columns, isShort }: ScalerRowProps): VNode {
    return (
      <div class={isShort ? 'scaler-row is-short' : 'scaler-row'} {...placeOf(index, top)}>
        {newsAt === null ? null : <span key={newsAt} class="news" />}
        <NameCell row={row} />
        <StateCell row={row} />
        {columns.map((name) => {
          const Cell = CELLS[name];
          return <Cell key={name} row={row} />;
        })}
      </div>
    );
  }
}

interface CellProps {
  readonly row: OverviewRow;
}

const CELLS: Readonly<Record<ColumnName, (props: CellProps) => VNode>> = {
  replicas: ReplicasCell,
  trend: ({ row }) => (
    <div role="cell" class="cell-trend">
      <Sparkline values={row.replicas} maximum={row.max} width={96} height={24} label={sparklineLabel(row)} />
    </div>
  ),
  metric: MetricCell,
  reason: ReasonCell,
  since: ({ row }) => <SinceCell name="since" at={row.state.since} />,
  changed: ({ row }) => <SinceCell name="changed" at={row.changedAt} />,
};

function NameCell({ row: { namespace, name, kind, target } }: { readonly row: OverviewRow }): VNode {
  return (
    <div role="rowheader" class="cell-name">
      <a
        href={scalerLink(namespace, name)}
        title={kind === null ? undefined : `${namespace}/${name}: ${kind} ${target}`}
      >
        <span class="row-namespace">
          <bdi>{namespace}</bdi>/
        </span>
        <bdi>{name}</bdi>
      </a>
    </div>
  );
}

function StateCell({ row: { state } }: { readonly row: OverviewRow }): VNode {
  const { tone, icon } = SEVERITY_STYLES[state.severity];
  return (
    <div role="cell" class="cell-state">
      {state.severity === 'ok' ? (
        <span class="muted">{state.name}</span>
      ) : (
        <Badge tone={tone} icon={icon} text={state.name} />
      )}
    </div>
  );
}

function ReplicasCell({ row }: CellProps): VNode {
  const { current, desired, min, max } = row;
  const isChanging = desired !== null && desired !== current;
  return (
    <div
      role="cell"
      class="cell-replicas"
      title={`At least ${formatCount(min)}, at most ${formatCount(max)}`}
    >
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
      {max === null ? null : (
        <span class="muted">
          {' '}
          <span class="visually-hidden">of at most</span>
          <span aria-hidden="true" class="of-most" /> {formatCount(max)}
        </span>
      )}
    </div>
  );
}

function MetricCell({ row: { kind, metric, metrics, state } }: CellProps): VNode {
  if (metric === null)
    return (
      <div role="cell" class="cell-metric muted">
        {metrics === 0 && kind !== null ? 'No metric' : 'No value'}
      </div>
    );
  const percent = percentOf(metric);
  // A scaler that is OK has no color: its load is within the tolerance, or its replicas are changing.
  const isAbove = state.severity !== 'ok' && percent !== null && percent > 100;
  const value = `${formatMetric(shorten(metric.value), metric)} of ${formatMetric(metric.target, metric)}`;
  const others = metrics > 1 ? ` (1 of ${metrics} metrics)` : '';
  return (
    <div role="cell" class="cell-metric" title={`${metric.name}: ${value}${others}`}>
      {percent === null ? (
        <span class="muted">{UNKNOWN}</span>
      ) : (
        <span class={isAbove ? 'is-above' : undefined}>{formatCount(percent)} %</span>
      )}
      <span class="muted">
        <span class="of-target"> of target</span>
        <span class="visually-hidden">
          {' of '}
          <bdi>{metric.name}</bdi>
        </span>
      </span>
    </div>
  );
}

function ReasonCell({ row: { state } }: CellProps): VNode {
  const { cause, until } = state;
  const untilMs = until === null ? null : parseTime(until);
  if (cause === null)
    return (
      <div role="cell" class="cell-reason is-empty muted">
        {UNKNOWN}
      </div>
    );
  return (
    <div role="cell" class="cell-reason" title={exactTimes(cause)}>
      <Sentence text={cause} />
      {untilMs === null ? null : <Until ms={untilMs} />}
    </div>
  );
}

/** Shows how long a state will last; nothing if the end of the state has passed. */
function Until({ ms }: { readonly ms: number }): VNode | null {
  return useNow((nowMs) => ms > nowMs) ? (
    <span class="muted">
      <TimeText ms={ms} format={formatLeft} />
    </span>
  ) : null;
}

interface SinceCellProps {
  readonly name: 'since' | 'changed';
  readonly at: string | null;
}

function SinceCell({ name, at }: SinceCellProps): VNode {
  const ms = at === null ? null : parseTime(at);
  return (
    <div role="cell" class={`cell-${name} muted`}>
      {ms === null ? UNKNOWN : <TimeText ms={ms} format={formatSince} />}
    </div>
  );
}
