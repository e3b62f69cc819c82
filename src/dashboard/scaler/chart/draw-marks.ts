import uPlot from 'uplot';
import type { Change } from '../model/changes.js';
import type { TimeChartProps } from './chart-props.js';

const SIZE = 5;

/**
 * Draws lines for the selected and the present time, and a triangle for each change. The triangle points up or down,
 * and is hollow if the change was not applied.
 */
export function drawMarks(
  chart: uPlot,
  { changes, selected, window, now }: TimeChartProps,
  token: (name: string) => string,
): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.beginPath();
  const edge = SIZE * uPlot.pxRatio;
  ctx.rect(bbox.left - edge, bbox.top - edge, bbox.width + 2 * edge, bbox.height + 2 * edge);
  ctx.clip();
  if (selected !== null) drawLine(chart, selected, { color: token('--text'), dash: [] });
  if (window.from < now && now < window.to)
    drawLine(chart, now, { color: token('--text-muted'), dash: [3, 3] });
  for (const change of changes)
    if (change.second >= window.from && change.second <= window.to) drawTriangle(chart, change, token);
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

function drawTriangle(chart: uPlot, change: Change, token: (name: string) => string): void {
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
  ctx.fillStyle = change.isCarriedOut ? token(isUp ? '--chart-3' : '--chart-2') : token('--surface');
  ctx.setLineDash([]);
  ctx.fill();
  ctx.stroke();
}
