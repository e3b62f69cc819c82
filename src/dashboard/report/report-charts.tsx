import type { ComponentChildren, VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Band, PageData, PageMetric, PageRun } from '../../backtest/page-data.js';
import { formatDated } from '../../units/short-time.js';
import type { ReadableCell } from '../data/cell.js';
import { useCell } from '../data/use-cell.js';
import {
  NO_CHANGES,
  type ChartLinks,
  type SeriesStyle,
  type TimeChartProps,
} from '../scaler/chart/chart-options.js';
import { LegendItem, TimeChart } from '../scaler/chart/time-chart.jsx';
import { formatCount, formatMetric } from '../ui/formats.js';

interface ChartProps {
  readonly data: PageData;
  readonly links: ChartLinks;
  readonly hover: ReadableCell<number | null>;
}

interface PodsChartProps extends ChartProps {
  readonly shown: ReadonlySet<string>;
  /** The run whose changes the chart marks. */
  readonly selected: PageRun | undefined;
}

/** Draws the demand and the replicas of the shown runs. */
export function PodsChart({ data, shown, selected, links, hover }: PodsChartProps): VNode {
  const { columns, styles } = useMemo(() => {
    const runs = data.runs.filter(({ name }) => shown.has(name));
    const lines = runs.map((run) => styleOf(data.runs.indexOf(run), run.name));
    return { columns: podsColumns(data, runs), styles: [...bandStyles('demand', '--chart-6'), ...lines] };
  }, [data, shown]);
  return (
    <figure>
      <Legend columns={columns} styles={styles} hover={hover} format={String}>
        {selected === undefined || selected.changes.length === 0 ? null : (
          <span class="chart-legend-marks">
            <span class="mark-up">▲</span> up <span class="mark-down">▼</span> down: {selected.name}
          </span>
        )}
      </Legend>
      <div role="img" aria-label="Demand and replicas">
        <TimeChart
          {...links}
          height={320}
          columns={columns}
          styles={styles}
          area="--demand-band"
          top={null}
          format={formatCount}
          steps="counts"
        />
      </div>
    </figure>
  );
}

/** Number of colors for runs. The demand has its own color. */
const COLORS = 5;

/** Returns the line of a run. Runs after the fifth have the same colors again, and dashed lines. */
export function styleOf(index: number, label: string): SeriesStyle {
  const round = Math.floor(index / COLORS);
  const dash = round === 0 ? [] : [6, 2 + 2 * round];
  return { label, color: `--chart-${(index % COLORS) + 1}`, width: 2, dash, isStepped: true };
}

/** Returns the lines of the highest and the lowest value, which must be the first lines of a chart. */
function bandStyles(label: string, color: string): readonly SeriesStyle[] {
  const line = { label, color, width: 1, dash: [], isStepped: false };
  return [line, line];
}

/** Returns the demand and the replicas with the same times. */
function podsColumns(
  { demand, seconds, from }: PageData,
  runs: readonly PageRun[],
): TimeChartProps['columns'] {
  const bandTimes = timesOf(demand, seconds);
  const changed = runs.flatMap(({ replicas }) => replicas.map(([at]) => at));
  const times = [...new Set([...bandTimes, ...changed, seconds])].sort((a, b) => a - b);
  const spread = (starts: readonly number[], values: readonly (number | null)[]): (number | null)[] => {
    let index = -1;
    return times.map((time) => {
      while ((starts[index + 1] ?? Infinity) <= time) index += 1;
      return values[index] ?? null;
    });
  };
  return [
    times.map((time) => from + time),
    spread(bandTimes, demand.high),
    spread(bandTimes, demand.low),
    ...runs.map(({ replicas }) =>
      spread(
        replicas.map(([at]) => at),
        replicas.map(([, count]) => count),
      ),
    ),
  ];
}

/** Returns where each interval starts, in seconds since the start of the chart. */
function timesOf({ low }: Band, seconds: number): readonly number[] {
  return low.map((_, part) => (part * seconds) / low.length);
}

interface MetricChartProps extends ChartProps {
  readonly metric: PageMetric;
}

/** Draws the values of a metric that the document used, and its target. */
export function MetricChart({ data, metric, links, hover }: MetricChartProps): VNode {
  const { name, value, target, isPercent } = metric;
  const columns = useMemo(() => {
    const times = timesOf(value, data.seconds).map((at) => data.from + at);
    return [times, value.high, value.low, times.map(() => target)];
  }, [data, value, target]);
  const format = (one: number): string => formatMetric(one, { name, unit: isPercent ? 'percent' : 'total' });
  return (
    <figure>
      <figcaption>
        <b dir="auto">{name}</b> {isPercent ? <span class="hint">of the requests</span> : null}
      </figcaption>
      <Legend columns={columns} styles={METRIC_STYLES} hover={hover} format={format} />
      <div role="img" aria-label={`${name} and its target`}>
        <TimeChart
          {...links}
          changes={NO_CHANGES}
          height={200}
          columns={columns}
          styles={METRIC_STYLES}
          area="--chart-band"
          top={null}
          format={format}
          steps={null}
        />
      </div>
    </figure>
  );
}

const METRIC_STYLES: readonly SeriesStyle[] = [
  ...bandStyles('value', '--chart-1'),
  { label: 'target', color: '--chart-6', width: 1.5, dash: [6, 4], isStepped: false },
];
interface LegendProps extends Pick<TimeChartProps, 'columns' | 'styles'>, Pick<ChartProps, 'hover'> {
  readonly format: (value: number) => string;
  readonly children?: ComponentChildren;
}

/** Names the lines, with their values at the pointer. */
function Legend({ columns, styles, hover, format, children }: LegendProps): VNode {
  const second = useCell(hover);
  const index = columns[0]?.findLastIndex((at) => at !== null && second !== null && at <= second) ?? -1;
  const [, high, low, ...lines] = columns.map((column) => column[index] ?? null);
  const [band, , ...others] = styles;
  const text = (value: number | null | undefined): string => (value == null ? '' : format(value));
  return (
    <div class="chart-legend" aria-hidden="true">
      {second === null ? null : <span class="chart-legend-time">{formatDated(1000 * second)}</span>}
      <LegendItem
        style={band?.color.slice(2) ?? ''}
        name={band?.label ?? ''}
        value={low === high ? text(high) : `${text(low)} to ${text(high)}`}
      />
      {others.map((style, line) => (
        <LegendItem key={style.label} style={swatchOf(style)} name={style.label} value={text(lines[line])} />
      ))}
      {children}
    </div>
  );
}

/** Returns the classes of the swatch of a line. */
export function swatchOf({ color, dash }: SeriesStyle): string {
  return `${dash.length === 0 ? '' : 'dashed '}${color.slice(2)}`;
}
