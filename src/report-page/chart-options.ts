import uPlot from 'uplot';
import type { Band, PageData } from '../backtest/report/page-data.js';
import { cssColor, formatTime } from './elements.js';

/** The charts share their cursor. */
export const SYNC = uPlot.sync('report');

const FONT = '12px system-ui, sans-serif';

type Options = Omit<uPlot.Options, 'series'>;

/** Returns the options that all charts share. */
export function chartOptions({ from, seconds }: PageData, width: number, height: number): Options {
  const stroke = cssColor('--muted');
  const line = { stroke: cssColor('--line'), width: 1 };
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
      { ...axis, space: 70, values: timeLabels },
      { ...axis, size: 44 },
    ],
    legend: { live: true },
  };
}

export const TIME: uPlot.Series = {
  label: 'time',
  value: (_, time: number | null) => (time === null ? '--' : formatTime(time)),
};

const MINUTE = 60;
const DAY = 86_400;

/** Times are in UTC, as in the explanations. */
function timeLabels(_: uPlot, times: number[], __: number, ___: number, step: number): string[] {
  return times.map((time) => {
    const text = formatTime(time);
    if (step >= DAY) return text.slice(5, 10);
    return text.slice(11, step >= MINUTE ? 16 : 19);
  });
}

/** Returns the start of each interval, in seconds since the start of the chart. */
export function bandTimes({ low }: Band, seconds: number): number[] {
  return low.map((_, part) => (part * seconds) / low.length);
}
