import uPlot from 'uplot';
import { axisTimes } from '../../../units/short-time.js';
import { type Mark, markedChanges } from '../model/changes.js';
import type { TimeWindow } from '../model/ranges.js';

/** How a line is drawn. Colors are the names of design tokens, such as `--chart-1`. */
export interface SeriesStyle {
  readonly label: string;
  readonly color: string;
  /** Width of the line in CSS pixels; 0: no line is drawn, because the series is only the edge of an area. */
  readonly width: number;
  readonly dash: readonly number[];
  readonly isStepped: boolean;
}

/** What all charts of a page share. */
export interface ChartLinks {
  /** The shown time range. If there is a forecast, it ends in the future. */
  readonly window: TimeWindow;
  /** Unix time in seconds. */
  readonly now: number;
  readonly changes: readonly Mark[];
  /** The selected time in Unix seconds; null: the last decision. */
  readonly selected: number | null;
  readonly onZoom: (window: TimeWindow) => void;
  readonly onPick: (second: number) => void;
  readonly onHover: (second: number | null) => void;
}

/** The marks of a chart below another one that has them. */
export const NO_CHANGES: ChartLinks['changes'] = [];

export interface TimeChartProps extends ChartLinks {
  readonly height: number;
  /** The first column contains the times; the other columns are in the order of `styles`. */
  readonly columns: readonly (readonly (number | null)[])[];
  readonly styles: readonly SeriesStyle[];
  /** Color of the area between the first two of `styles`. */
  readonly area: string;
  /** The largest value of the axis; null: it is computed from the values. */
  readonly top: number | null;
  /** Whether the axis is logarithmic; default: no. */
  readonly isLog?: boolean;
  readonly format: (value: number) => string;
  /** Where grid lines may be: `counts`: at integers; `bytes`: at powers of 2; null: at any number. */
  readonly steps: 'bytes' | 'counts' | null;
}

const SYNC_KEY = 'promscaler';
const FONT = '12px system-ui, sans-serif';
const MIN_DRAG_PIXELS = 5;
/**
 * The value of uPlot for a logarithmic scale. The enum of uPlot exists only in its types, so its value is repeated
 * here.
 */
const LOGARITHMIC: object = { distr: 3 };
/** Allowed distances between the grid lines of an axis. uPlot would also draw a line at half a replica. */
const STEPS: Readonly<Record<'bytes' | 'counts', readonly number[]>> = {
  bytes: Array.from({ length: 60 }, (_, power) => 2 ** power),
  counts: Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? 1 : 5) * 10 ** Math.floor(index / 2)),
};

export function chartOptions(
  element: HTMLElement,
  latest: { readonly current: TimeChartProps },
): uPlot.Options {
  const { styles, area, height, steps, isLog = false } = latest.current;
  // A low chart shows no times, because the chart above it shows them.
  const hasTimes = height > 100;
  // The style sheet of the limit strip has the same widths.
  const [left, right] = matchMedia('(max-width: 40rem)').matches ? [50, 22] : [64, 30];
  const token = tokensOf(element);
  const axis = { stroke: token('--text-muted'), font: FONT, labelFont: FONT };
  const grid = { stroke: token('--chart-grid'), width: 1 };
  return {
    width: Math.max(1, Math.floor(element.clientWidth)),
    height,
    padding: [10, right, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { setScale: false, dist: MIN_DRAG_PIXELS },
      sync: { key: SYNC_KEY, setSeries: false },
      points: { size: 7 },
    },
    scales: {
      x: { time: true, range: () => [latest.current.window.from, latest.current.window.to] },
      y: isLog
        ? { ...LOGARITHMIC, range: (_chart, min, max) => uPlot.rangeLog(min, max, 10, true) }
        : { range: (_chart, _min, max) => [0, latest.current.top ?? niceTop(max)] },
    },
    axes: [
      {
        ...axis,
        grid,
        ticks: { ...grid, size: 5 },
        size: hasTimes ? 30 : 8,
        space: 70,
        values: (_chart, splits, _index, _space, step) =>
          hasTimes ? axisTimes(splits, step) : splits.map(() => ''),
      },
      {
        ...axis,
        grid: isLog ? { ...grid, filter: (_chart, splits) => splits.map(powerOrNull) } : grid,
        ticks: { show: false },
        size: (_chart, values) => Math.max(left, axisWidth(values)),
        space: 28,
        ...(steps === null ? {} : { incrs: [...STEPS[steps]] }),
        // On a logarithmic axis, splits without a label are null, unlike in the types of uPlot.
        values: (_chart, splits: readonly (number | null)[]) =>
          splits.map((value) => (value === null ? '' : latest.current.format(value))),
      },
    ],
    series: [{}, ...styles.map((style) => seriesOf(style, token))],
    bands: [{ series: [1, 2], fill: token(area) }],
    hooks: {
      draw: [(chart) => drawMarks(chart, latest.current, token)],
      setCursor: [
        (chart) => {
          const { left } = chart.cursor;
          latest.current.onHover(left == null || left < 0 ? null : chart.posToVal(left, 'x'));
        },
      ],
      setSelect: [(chart) => zoom(chart, latest.current)],
    },
  };
}

function zoom(chart: uPlot, { onZoom }: TimeChartProps): void {
  const { left, width } = chart.select;
  if (width < MIN_DRAG_PIXELS) return;
  const window = { from: chart.posToVal(left, 'x'), to: chart.posToVal(left + width, 'x') };
  chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  onZoom(window);
}

function seriesOf(style: SeriesStyle, token: (name: string) => string): uPlot.Series {
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  return {
    label: style.label,
    stroke: token(style.color),
    width: style.width,
    dash: [...style.dash],
    // Points are shown where a line cannot be drawn: at a single value between two gaps.
    points: { show: style.width > 0 ? isSparse : false, size: 5 },
    ...(style.isStepped && stepped !== undefined ? { paths: stepped } : {}),
  };
}

function isSparse(chart: uPlot): boolean {
  return chart.data[0].length < 2;
}

/** Without this filter, a logarithmic axis has nine lines for each power of 10. */
function powerOrNull(value: number): number | null {
  return Number.isInteger(Math.log10(value)) ? value : null;
}

function niceTop(max: number | null): number {
  return max === null || !(max > 0) ? 1 : max * 1.1;
}

function axisWidth(values: readonly string[] | null): number {
  const longest = Math.max(0, ...(values ?? []).map((value) => value.length));
  return 14 + longest * 7;
}

/**
 * Returns a function that resolves a design token to its color in the current theme, because a canvas cannot use
 * tokens. It sets the token as the color of `element`: the browser resolves tokens only in styles.
 */
function tokensOf(element: HTMLElement): (name: string) => string {
  return (name) => {
    element.style.color = `var(${name})`;
    return getComputedStyle(element).color;
  };
}

const SIZE = 5;
/** Minimum distance of two triangles of the same kind in pixels. Closer triangles would overlap. */
const GAP = 2 * SIZE + 2;

/**
 * Draws lines for the selected and the current time, and triangles for changes. A triangle points up or down, and is
 * hollow if the change was not applied.
 */
function drawMarks(
  chart: uPlot,
  { changes, selected, window, now }: TimeChartProps,
  token: (name: string) => string,
): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.beginPath();
  // A triangle at the edge also needs room for its outline.
  const edge = (SIZE + 1) * uPlot.pxRatio;
  ctx.rect(bbox.left - edge, bbox.top - edge, bbox.width + 2 * edge, bbox.height + 2 * edge);
  ctx.clip();
  if (selected !== null) drawLine(chart, selected, { color: token('--text'), dash: [] });
  if (window.from < now && now < window.to)
    drawLine(chart, now, { color: token('--text-muted'), dash: [3, 3] });
  const positionOf = (second: number): number => chart.valToPos(second, 'x');
  for (const change of markedChanges(changes, { window, positionOf, gap: GAP }))
    drawTriangle(chart, change, token);
  ctx.restore();
}

function drawLine(
  chart: uPlot,
  second: number,
  { color, dash }: { readonly color: string; readonly dash: readonly number[] },
): void {
  const { ctx, bbox } = chart;
  const x = Math.round(chart.valToPos(second, 'x', true));
  ctx.strokeStyle = color;
  ctx.lineWidth = 1.5 * uPlot.pxRatio;
  ctx.setLineDash(dash.map((length) => length * uPlot.pxRatio));
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
}

function drawTriangle(chart: uPlot, change: Mark, token: (name: string) => string): void {
  const { ctx, bbox } = chart;
  const isUp = change.to > change.from;
  const size = SIZE * uPlot.pxRatio;
  const x = chart.valToPos(change.second, 'x', true);
  const base = bbox.top + (isUp ? size : 0);
  const tip = bbox.top + (isUp ? -size / 2 : size * 1.5);
  ctx.beginPath();
  ctx.moveTo(x - size, base);
  ctx.lineTo(x + size, base);
  ctx.lineTo(x, tip);
  ctx.closePath();
  ctx.lineWidth = 1.2 * uPlot.pxRatio;
  ctx.strokeStyle = token(isUp ? '--chart-3' : '--chart-2');
  ctx.fillStyle = change.isApplied ? token(isUp ? '--chart-3' : '--chart-2') : token('--surface');
  ctx.setLineDash([]);
  ctx.fill();
  ctx.stroke();
}
