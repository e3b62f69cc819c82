import uPlot from 'uplot';
import type { Band, PageData } from '../backtest/report/page-data.js';
import { cssColor } from './elements.js';

/** The charts share their cursor. */
export const SYNC = uPlot.sync('report');

const FONT = '12px system-ui, sans-serif';

type Options = Omit<uPlot.Options, 'series'>;

/** What all charts have in common. */
export function chartOptions({ from, seconds }: PageData, width: number, height: number): Options {
  const stroke = cssColor('--muted');
  const line = { stroke: cssColor('--line'), width: 1 };
  const axis: uPlot.Axis = { stroke, font: FONT, grid: line, ticks: line };
  return {
    width,
    height,
    // Times in UTC, as in the explanations.
    tzDate: (unixSeconds) => uPlot.tzDate(new Date(unixSeconds * 1000), 'Etc/UTC'),
    cursor: { sync: { key: SYNC.key }, drag: { x: true, y: false } },
    scales: {
      x: { min: from, max: from + seconds },
      y: { range: (_, __, highest) => [0, Math.max(1, highest * 1.05)] },
    },
    axes: [axis, { ...axis, size: 44 }],
    legend: { live: true },
    plugins: [{ hooks: { ready: [(chart) => void (chart.root.dataset['from'] = String(from))] } }],
  };
}

/** When the parts of a band begin, in seconds since the start. */
export function bandTimes({ low }: Band, seconds: number): number[] {
  return low.map((_, part) => (part * seconds) / low.length);
}
