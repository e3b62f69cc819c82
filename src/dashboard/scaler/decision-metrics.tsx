import type { ComponentChildren, VNode } from 'preact';
import type { ScalerDetail } from '../../api/answers.js';
import { formatCount, formatMetric, UNKNOWN } from '../ui/formats.js';
import { GraphLink } from '../ui/graph-link.jsx';
import { Icon } from '../ui/icon.jsx';
import { Table } from '../ui/table.jsx';
import type { Metric, MetricResult, PastDecision } from './model/answers.js';
import { groupPods, type PodGroup } from './model/decision-parts.js';

export type MetricTargets = readonly (Pick<Metric, 'metric' | 'unit'> & { readonly target: number | null })[];

interface MetricResultsProps {
  readonly decision: PastDecision;
  readonly targets: MetricTargets;
  readonly queries: ScalerDetail['queries'];
}

export function MetricResults({ decision, targets, queries }: MetricResultsProps): VNode {
  const { metrics } = decision;
  if (metrics.length === 0) return <p class="hint">No metric was used for this decision.</p>;
  const proposals = metrics.flatMap(({ proposal }) => (proposal === null ? [] : [proposal]));
  const most = proposals.length === 0 ? null : Math.max(...proposals);
  const least = proposals.length === 0 ? null : Math.min(...proposals);
  return (
    <Table
      caption="Metrics of the decision"
      columns={[
        { title: 'Metric' },
        { title: 'Value', isNumber: true },
        { title: 'Target', isNumber: true },
        { title: 'Ratio', isNumber: true },
        { title: 'Proposes', isNumber: true },
      ]}
      rows={metrics.map((metric, index) => ({
        key: `${index} ${metric.name}`,
        cells: [
          <MetricName
            metric={metric}
            identity={targets[index]?.metric ?? metric.name}
            graphUrl={queries?.find(({ path }) => path === `spec.metrics[${index}]`)?.graphUrl}
          />,
          valueText(metric),
          targetText(metric, targets[index]),
          <Ratio metric={metric} target={targets[index]} />,
          metric.proposal !== null && metric.proposal === most && least !== most ? (
            <b>
              {formatCount(metric.proposal)} <span class="hint">largest</span>
            </b>
          ) : (
            formatCount(metric.proposal)
          ),
        ],
      }))}
    />
  );
}

interface RatioProps {
  readonly metric: MetricResult;
  readonly target: MetricTargets[number] | undefined;
}

/** Shows the ratio. It is not that of value and target if the usage of missing or unready pods was assumed. */
function Ratio({ metric: { ratio, current, pods }, target }: RatioProps): VNode {
  if (ratio === null) return <>{UNKNOWN}</>;
  const plain = (current.averageUtilization ?? current.averageValue ?? NaN) / (target?.target ?? NaN);
  const isAssumed = pods.missing.length + pods.unready.length > 0 && Math.abs(plain - ratio) > 0.001;
  return (
    <>
      {Math.round(ratio * 10_000) / 10_000}
      {isAssumed ? <div class="hint">partly assumed</div> : null}
    </>
  );
}

interface MetricNameProps {
  readonly metric: MetricResult;
  readonly identity: string;
  readonly graphUrl: string | null | undefined;
}

/**
 * Shows the name of a metric. The link is from the current document, so it is shown only if the document still has this
 * metric.
 */
function MetricName({ metric, identity, graphUrl }: MetricNameProps): VNode {
  const { name, error, partial, readAsZero } = metric;
  const warning = readAsZero === undefined ? partial && `partial: ${partial}` : `${readAsZero}, read as 0`;
  const [trouble, tone] = error === null ? [warning, 'tone-warn'] : [error, 'tone-bad'];
  const isSame = isNameOf(identity, name);
  return (
    <div class="metric-name">
      <span dir="auto">{isSame ? identity : name}</span>{' '}
      <GraphLink url={isSame ? graphUrl : null} metric={name} />
      {trouble === null ? null : (
        <div class={`metric-trouble ${tone}`} dir="auto">
          <Icon name={error === null ? 'warning' : 'error'} /> {trouble}
        </div>
      )}
    </div>
  );
}

function valueText({ name, error, readAsZero, current }: MetricResult): ComponentChildren {
  if (error !== null || readAsZero !== undefined) return 'no value';
  const { averageUtilization, averageValue, value } = current;
  if (averageUtilization !== undefined) return formatMetric(averageUtilization, { name, unit: 'percent' });
  if (averageValue !== undefined)
    return (
      <>
        {formatMetric(averageValue, { name, unit: 'average' })} <span class="per-pod">per pod</span>
      </>
    );
  return formatMetric(value ?? null, { name, unit: 'total' });
}

/** Returns whether a metric has this name. The identity of a ContainerResource metric is CONTAINER/NAME. */
function isNameOf(identity: string, name: string): boolean {
  return identity === name || identity.endsWith(`/${name}`);
}

/**
 * Returns the target; unknown if the document has changed since the decision and now has another metric at this
 * position.
 */
function targetText({ name }: MetricResult, target: MetricTargets[number] | undefined): string {
  if (target === undefined || !isNameOf(target.metric, name)) return UNKNOWN;
  return formatMetric(target.target, { name, unit: target.unit });
}

const MEANINGS: Readonly<Record<PodGroup['name'], string>> = {
  ready: 'their values count',
  unready: 'counted as idle for a scale-up',
  missing: 'without a value',
  ignored: 'not counted',
};

/** Shows the pods of a decision by group and reason. Metrics with the same groups are shown together. */
export function PodsView({ metrics }: { readonly metrics: readonly MetricResult[] }): VNode | null {
  const parts = partsOf(metrics);
  if (parts.length === 0) return null;
  return (
    <div class="pods">
      <h3>Pods</h3>
      {parts.map(({ names, groups }) => (
        <div key={names.join(' ')} class="pods-part">
          {parts.length === 1 ? null : (
            <p class="hint" dir="auto">
              for {names.join(', ')}
            </p>
          )}
          <GroupBar groups={groups} />
          {groups.map((group) => (
            <Group key={group.name} group={group} />
          ))}
        </div>
      ))}
    </div>
  );
}

function partsOf(
  metrics: readonly MetricResult[],
): readonly { readonly names: readonly string[]; readonly groups: readonly PodGroup[] }[] {
  const parts = new Map<string, { names: string[]; groups: readonly PodGroup[] }>();
  for (const metric of metrics) {
    const groups = groupPods(metric);
    if (groups.length === 0) continue;
    const key = JSON.stringify(groups);
    const part = parts.get(key);
    if (part === undefined) parts.set(key, { names: [metric.name], groups });
    else part.names.push(metric.name);
  }
  return [...parts.values()];
}

/** Shows the share of each group as a bar. The text below it contains the numbers. */
function GroupBar({ groups }: { readonly groups: readonly PodGroup[] }): VNode {
  const total = groups.reduce((sum, { count }) => sum + count, 0);
  let start = 0;
  const bars = groups.map(({ name, count }) => {
    const x = (start / total) * 100;
    start += count;
    return (
      <rect key={name} class={`pods-${name}`} x={`${x}%`} width={`${(count / total) * 100}%`} height="8" />
    );
  });
  return (
    <svg class="pods-bar" width="100%" height="8" aria-hidden="true" focusable="false">
      {bars}
    </svg>
  );
}

function Group({ group: { name, count, parts } }: { readonly group: PodGroup }): VNode {
  return (
    <details class="pods-group">
      <summary>
        <span class={`swatch pods-${name}`} /> <b>{formatCount(count)}</b> {name}{' '}
        <span class="hint" dir="auto">
          {name === 'ready' ? MEANINGS.ready : parts.map(partText).join('; ')}
        </span>
      </summary>
      {parts.map(({ reason, pods }) => (
        <div key={reason ?? ''}>
          {reason === null ? null : (
            <p dir="auto">
              {reason} ({formatCount(pods.length)})
            </p>
          )}
          <ul class="pod-names">
            {pods.map((pod) => (
              <li key={pod} dir="auto">
                {pod}
              </li>
            ))}
          </ul>
        </div>
      ))}
    </details>
  );
}

function partText({ reason, pods }: PodGroup['parts'][number]): string {
  return `${formatCount(pods.length)} ${reason ?? ''}`;
}
