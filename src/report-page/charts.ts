import uPlot from 'uplot';
import type { PageChange, PageData, PageRun, PageMetric, Band } from '../backtest/page-data.js';
import { axisTimes, formatDated } from '../units/short-time.js';

interface PodsView {
  readonly shown: ReadonlySet<string>;
  /** The run whose changes the chart marks. */
  readonly selected: PageRun | undefined;
  readonly onChange: (change: PageChange) => void;
}

const RADIUS = 4;
/** If there are more changes than this, markers are small, because large markers would hide the line. */
const MANY = 60;
/** A click opens a marker within this distance in pixels. */
const REACH = 16;

export function drawPods(root: HTMLElement, data: PageData, { shown, selected, onChange }: PodsView): void {
  const runs = data.runs.flatMap((run, index) => (shown.has(run.name) ? [{ run, index }] : []));
  const { tables, xs } = joined(
    data,
    runs.map(({ run }) => run),
  );
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  const series: uPlot.Series[] = [
    TIME,
    ...bandSeries('demand', '--chart-6'),
    ...runs.map(({ run, index }): uPlot.Series => {
      const stroke = cssColor(`--chart-${colorNumber(index)}`);
      const line = {
        label: run.name,
        stroke,
        width: 2,
        dash: dashOf(index),
        points: NO_POINTS,
        value: valueText,
      };
      return stepped === undefined ? line : { ...line, paths: stepped };
    }),
  ];
  const options = chartOptions(data, root.clientWidth, 320);
  const chart = new uPlot(
    {
      ...options,
      series,
      bands: bandIn('--demand-band'),
      hooks: { draw: [(drawn) => drawMarkers(drawn, data.from, selected)] },
    },
    [xs, ...tables],
  );
  chart.over.addEventListener('click', ({ offsetX, offsetY }) => {
    const change = nearest(chart, selected, { from: data.from, x: offsetX, y: offsetY });
    if (change !== null) onChange(change);
  });
  root.replaceChildren(chart.root);
  SYNC.sub(chart);
}

/** Returns the runs and the demand with the same time axis. */
function joined(
  { demand, seconds, from }: PageData,
  runs: readonly PageRun[],
): { readonly xs: number[]; readonly tables: (number | null)[][] } {
  const times = bandTimes(demand, seconds);
  const all = new Set([...times, ...runs.flatMap(({ replicas }) => replicas.map(([at]) => at)), seconds]);
  const sorted = [...all].sort((a, b) => a - b);
  const indexOf = new Map(sorted.map((time, index) => [time, index]));
  const bandOf = (values: readonly (number | null)[]): (number | null)[] => {
    const column = new Array<number | null>(sorted.length).fill(null);
    let part = 0;
    sorted.forEach((time, index) => {
      while (part + 1 < times.length && (times[part + 1] ?? Infinity) <= time) part += 1;
      column[index] = values[part] ?? null;
    });
    return column;
  };
  const stepsOf = ({ replicas }: PageRun): (number | null)[] => {
    const column = new Array<number | null>(sorted.length).fill(null);
    replicas.forEach(([at, count], index) => {
      const next = replicas[index + 1]?.[0] ?? Infinity;
      for (let row = indexOf.get(at) ?? 0; row < sorted.length && (sorted[row] ?? 0) < next; row += 1)
        column[row] = count;
    });
    return column;
  };
  return {
    xs: sorted.map((time) => from + time),
    tables: [bandOf(demand.low), bandOf(demand.high), ...runs.map(stepsOf)],
  };
}

function markersOf(
  chart: uPlot,
  { changes }: PageRun,
  { from, isCanvas }: { readonly from: number; readonly isCanvas: boolean },
): readonly {
  readonly change: PageChange;
  readonly x: number;
  readonly y: number;
}[] {
  return changes.map((change) => ({
    change,
    x: chart.valToPos(from + change.at, 'x', isCanvas),
    y: chart.valToPos(change.to, 'y', isCanvas),
  }));
}

function drawMarkers(chart: uPlot, from: number, selected: PageRun | undefined): void {
  if (selected === undefined) return;
  const { ctx, bbox } = chart;
  const markers = markersOf(chart, selected, { from, isCanvas: true }).filter(
    ({ x }) => x >= bbox.left && x <= bbox.left + bbox.width,
  );
  const radius = (markers.length > MANY ? RADIUS / 2 : RADIUS) * devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = cssColor('--text');
  ctx.fillStyle = cssColor('--surface');
  ctx.lineWidth = 1.5 * devicePixelRatio;
  let last = -Infinity;
  for (const { x, y } of markers) {
    // Overlapping circles would hide the line.
    if (x - last < 3 * radius) continue;
    last = x;
    ctx.beginPath();
    ctx.arc(x, y, radius, 0, 2 * Math.PI);
    ctx.fill();
    ctx.stroke();
  }
  ctx.restore();
}

function nearest(
  chart: uPlot,
  selected: PageRun | undefined,
  pointer: { readonly from: number; readonly x: number; readonly y: number },
): PageChange | null {
  if (selected === undefined) return null;
  let best: { readonly change: PageChange; readonly distance: number } | null = null;
  for (const { change, x, y } of markersOf(chart, selected, { from: pointer.from, isCanvas: false })) {
    const distance = Math.hypot(x - pointer.x, y - pointer.y);
    if (distance <= REACH && (best === null || distance < best.distance)) best = { change, distance };
  }
  return best?.change ?? null;
}

/** Draws the values of a metric that the document used, and its target. */
export function drawMetric(data: PageData, metric: PageMetric, width: number): HTMLElement {
  const { name, value, target, isPercent } = metric;
  const unit = isPercent ? ', % of the requests' : '';
  const xs = bandTimes(value, data.seconds).map((time) => data.from + time);
  const chart = new uPlot(
    {
      ...chartOptions(data, width, 200),
      series: [
        TIME,
        ...bandSeries('value', '--chart-1'),
        {
          label: 'target',
          stroke: cssColor('--chart-6'),
          width: 1.5,
          dash: [6, 4],
          points: NO_POINTS,
          value: valueText,
        },
      ],
      bands: bandIn('--chart-band'),
    },
    [xs, [...value.low], [...value.high], xs.map(() => target)],
  );
  SYNC.sub(chart);
  return element('figure', {}, [element('figcaption', { textContent: `${name}${unit}` }), chart.root]);
}

/** Synchronizes the cursors of all charts. */
const SYNC = uPlot.sync('report');

const FONT = '12px system-ui, sans-serif';

type Options = Omit<uPlot.Options, 'series'>;

function chartOptions({ from, seconds }: PageData, width: number, height: number): Options {
  const stroke = cssColor('--text-muted');
  const line = { stroke: cssColor('--chart-grid'), width: 1 };
  const axis: uPlot.Axis = { stroke, font: FONT, grid: line, ticks: line };
  return {
    width,
    height,
    cursor: { sync: { key: SYNC.key }, drag: { x: true, y: false } },
    scales: {
      x: { min: from, max: from + seconds },
      y: { range: (_, __, highest) => [0, Math.max(1, highest * 1.05)] },
    },
    axes: [
      { ...axis, space: 70, values: (_, splits, __, ___, step) => axisTimes(splits, step) },
      { ...axis, size: 44 },
    ],
    legend: { live: true },
  };
}

const NO_POINTS = { show: false } as const;

const TIME: uPlot.Series = {
  label: 'time',
  value: (_, time: number | null) => (time === null ? '' : formatDated(time * 1000)),
};

function valueText(_: uPlot, value: number | null): string {
  return value === null ? '' : String(value);
}

/** Returns the lines of the lowest and the highest value. They must be the first series of a chart. */
function bandSeries(label: string, color: string): readonly uPlot.Series[] {
  const line = { label, stroke: cssColor(color), width: 1, points: NO_POINTS };
  const range = ({ data }: uPlot, high: number | null, _: number, index: number | null): string => {
    const low = index === null ? null : (data[1]?.[index] ?? null);
    if (high === null || low === null) return '';
    return low === high ? String(high) : `${low} to ${high}`;
  };
  return [
    { ...line, class: 'lowest' },
    { ...line, value: range },
  ];
}

/** Returns the area between the lowest and the highest value of `bandSeries`. */
function bandIn(color: string): uPlot.Band[] {
  return [{ series: [2, 1], fill: cssColor(color) }];
}

/** Returns where each interval starts, in seconds since the start of the chart. */
function bandTimes({ low }: Band, seconds: number): number[] {
  return low.map((_, part) => (part * seconds) / low.length);
}

/** Creates an element. Strings become text nodes, so that a name in the data cannot become HTML. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Partial<HTMLElementTagNameMap[Tag]>,
  children: readonly Node[] = [],
): HTMLElementTagNameMap[Tag] {
  const created = Object.assign(document.createElement(tag), properties);
  created.append(...children);
  return created;
}

/** Number of colors for runs. The demand has its own color. */
const COLORS = 5;

/** Returns the number of the color for a run, from 1 to `COLORS`. */
export function colorNumber(index: number): number {
  return (index % COLORS) + 1;
}

/** Resolves a color of the style sheet in the current theme, because a canvas cannot use its name. */
function cssColor(name: string): string {
  document.body.style.accentColor = `var(${name})`;
  return getComputedStyle(document.body).accentColor;
}

/**
 * Returns the dashes of a line: none for the first five runs. Later runs reuse the colors, so their lines are dashed.
 */
function dashOf(index: number): number[] {
  const round = Math.floor(index / COLORS);
  return round === 0 ? [] : [6, 2 + 2 * round];
}
