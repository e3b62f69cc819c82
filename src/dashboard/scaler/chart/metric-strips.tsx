import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Tolerances } from '../../../decision/proposals/arithmetic.js';
import type { ReadableCell } from '../../data/cell.js';
import { useCell } from '../../data/use-cell.js';
import { formatMetric } from '../../ui/formats.js';
import { type ChartData, logFloor, type MetricColumns, readerAt, type Values } from '../model/chart-data.js';
import { toleranceBand } from '../model/tolerance.js';
import { NO_CHANGES, type ChartLinks, type SeriesStyle } from './chart-options.js';
import { LegendItem, TimeChart } from './time-chart.jsx';

interface MetricStripsProps {
  readonly data: ChartData;
  readonly links: ChartLinks;
  readonly hover: ReadableCell<number | null>;
  readonly tolerances: Tolerances;
}

const STYLES: readonly SeriesStyle[] = [
  { label: 'upper tolerance', color: '--chart-6', width: 0, dash: [], isStepped: true },
  { label: 'lower tolerance', color: '--chart-6', width: 0, dash: [], isStepped: true },
  { label: 'target', color: '--chart-6', width: 1.5, dash: [6, 4], isStepped: true },
  { label: 'value', color: '--chart-1', width: 2, dash: [], isStepped: false },
];

/** Shows a chart for each metric and its target, with the time axis of the chart of the replicas. */
export function MetricStrips({ data, links, hover, tolerances }: MetricStripsProps): VNode | null {
  if (data.metrics.length === 0) return null;
  return (
    <div class="metric-strips" role="group" aria-label="Metrics">
      {data.metrics.map((metric) => (
        <MetricChart
          key={`${metric.type} ${metric.metric}`}
          metric={metric}
          data={data}
          links={links}
          hover={hover}
          tolerances={tolerances}
        />
      ))}
    </div>
  );
}

interface MetricChartProps extends MetricStripsProps {
  readonly metric: MetricColumns;
}

function MetricChart(props: MetricChartProps): VNode {
  const { data, metric, links, tolerances } = props;
  const { metric: name, unit, value, target } = metric;
  // The dependencies are the two numbers, not the object: each answer has a new object with the same tolerances.
  const { down, up } = tolerances;
  const floor = useMemo(() => logFloor(value), [value]);
  const columns = useMemo(() => {
    const edge = (side: 'low' | 'high') =>
      target.map((one) => (one === null ? null : toleranceBand(one, { down, up })[side]));
    const above = (column: Values): Values =>
      floor === null ? column : column.map((one) => (one === null ? null : Math.max(one, floor)));
    return [data.at, ...[edge('high'), edge('low'), target, value].map(above)];
  }, [data.at, target, value, down, up, floor]);
  const format = (one: number | null): string => formatMetric(one, { name, unit });
  const of = unit === 'percent' ? 'of the requests' : unit === 'average' ? 'per pod' : 'in total';
  return (
    <figure class="metric-strip">
      <figcaption>
        <b dir="auto">{name}</b> <span class="hint">{floor === null ? of : `${of}, logarithmic scale`}</span>
        <MetricReadout {...props} />
      </figcaption>
      <div
        role="img"
        aria-label={`${name}: ${format(value.at(-1) ?? null)}, target ${format(target.at(-1) ?? null)}`}
      >
        <TimeChart
          {...links}
          changes={NO_CHANGES}
          height={100}
          isLog={floor !== null}
          columns={columns}
          styles={STYLES}
          area="--chart-band"
          top={null}
          // A 0 is drawn at the bottom, because a logarithmic axis has no place for it.
          format={(one) => format(one === floor && value.includes(0) ? 0 : one)}
          steps={unit !== 'percent' && /(?:^|\/)memory$/.test(name) ? 'bytes' : null}
        />
      </div>
    </figure>
  );
}

function MetricReadout({ data, metric, links, hover, tolerances }: MetricChartProps): VNode {
  const { down, up } = tolerances;
  const percent = (value: number): string => `${Math.round(value * 1000) / 10} %`;
  const second = useCell(hover) ?? links.selected;
  const read = readerAt(data, second);
  const format = (column: Values): string =>
    formatMetric(read(column), { name: metric.metric, unit: metric.unit });
  return (
    <span class="chart-legend" aria-hidden="true">
      <LegendItem style="chart-1" name="value" value={format(metric.value)} />
      <LegendItem style="dashed chart-6" name="target" value={format(metric.target)} />
      <LegendItem
        style="band"
        name="tolerance"
        value={down === up ? percent(up) : `${percent(down)} below, ${percent(up)} above`}
      />
    </span>
  );
}
