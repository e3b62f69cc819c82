import uPlot from 'uplot';
import type { PageData, PageMetric } from '../backtest/report/page-data.js';
import { bandTimes, chartOptions, SYNC, TIME } from './chart-options.js';
import { cssColor, element } from './elements.js';

/** Draws the values that a document saw, and its target. */
export function drawMetric(data: PageData, metric: PageMetric, width: number): HTMLElement {
  const { name, value, target, isPercent } = metric;
  const unit = isPercent ? ', % of the requests' : '';
  const color = cssColor('--run-1');
  const xs = bandTimes(value, data.seconds).map((time) => data.from + time);
  const points = { show: false };
  const chart = new uPlot(
    {
      ...chartOptions(data, width, 200),
      series: [
        TIME,
        { label: 'lowest', stroke: color, width: 1, points },
        { label: 'highest', stroke: color, width: 1, points },
        { label: 'target', stroke: cssColor('--target'), width: 1.5, dash: [6, 4], points },
      ],
      bands: [{ series: [2, 1], fill: cssColor('--run-1-fill') }],
    },
    [xs, [...value.low], [...value.high], xs.map(() => target)],
  );
  SYNC.sub(chart);
  return element('figure', {}, [element('figcaption', { textContent: `${name}${unit}` }), chart.root]);
}
