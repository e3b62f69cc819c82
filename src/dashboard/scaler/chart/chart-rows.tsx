import type { VNode } from 'preact';
import { formatCount, formatMetric, plural } from '../../ui/numbers.js';
import { Table } from '../../ui/table.jsx';
import { Time } from '../../ui/time.jsx';
import type { ChartData } from '../model/chart-data.js';
import type { TimeWindow } from './chart-props.js';

export interface ChartRowsProps {
  readonly data: ChartData;
  readonly window: TimeWindow;
}

const MOST_ROWS = 200;

/** Shows the points of the charts, newest first. */
export function ChartRows({ data, window }: ChartRowsProps): VNode {
  const inside = data.at.flatMap((second, index) =>
    second >= window.from && second <= window.to ? [index] : [],
  );
  const shown = inside.slice(-MOST_ROWS).reverse();
  const counts = [
    data.currentReplicas,
    data.desiredReplicas,
    data.recommendedReplicas,
    data.minReplicas,
    data.maxReplicas,
    data.readyPods,
  ];
  const titles = ['Current', 'Desired', 'Recommended', 'Minimum', 'Maximum', 'Ready'];
  return (
    <>
      {inside.length > shown.length ? (
        <p class="hint">
          The newest {shown.length} of {plural(inside.length, 'point')}: zoom in to see others.
        </p>
      ) : null}
      <div class="scroll-x" role="region" aria-label="Values of the charts" tabIndex={0}>
        <Table
          caption="Replicas and metrics over time, newest first"
          columns={[
            { title: 'Time' },
            ...titles.map((title) => ({ title, isNumber: true })),
            ...data.metrics.map(({ metric }) => ({ title: metric, isNumber: true })),
          ]}
          rows={shown.map((index) => ({
            key: String(data.at[index]),
            cells: [
              <Time at={new Date((data.at[index] ?? 0) * 1000).toISOString()} />,
              ...counts.map((column) => formatCount(column[index] ?? null)),
              ...data.metrics.map(({ metric, unit, value }) =>
                formatMetric(value[index] ?? null, { name: metric, unit }),
              ),
            ],
          }))}
        />
      </div>
    </>
  );
}
