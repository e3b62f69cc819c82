import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { PartMissing } from '../../ui/states.jsx';
import { usePart } from '../../ui/use-part.js';
import type { ChartRowsProps } from './chart-rows.jsx';

/** Shows the points of the charts as a table, which is loaded when it is opened. */
export function ChartTable(props: ChartRowsProps): VNode {
  const [isOpen, setIsOpen] = useState(false);
  const { part, hasFailed } = usePart(loadRows, isOpen);
  return (
    <details class="chart-table" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>Values as a table</summary>
      {hasFailed ? <PartMissing /> : null}
      {isOpen && part !== null ? <part.ChartRows {...props} /> : null}
    </details>
  );
}

const loadRows = () => import('./chart-rows.jsx');
