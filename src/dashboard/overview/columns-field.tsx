import type { VNode } from 'preact';
import { COLUMNS } from './scaler-table.jsx';
import { COLUMN_NAMES } from './selection.js';
import type { Selection } from './selection.js';

interface ColumnsFieldProps {
  readonly selection: Selection;
  readonly onChange: (change: Partial<Selection>) => void;
}

/** Shows which columns the list has. */
export function ColumnsField({ selection: { columns }, onChange }: ColumnsFieldProps): VNode {
  return (
    <details class="columns-field">
      <summary>Columns</summary>
      <div class="columns-menu">
        {COLUMN_NAMES.map((name) => (
          <label key={name}>
            <input
              type="checkbox"
              checked={columns.includes(name)}
              onChange={({ currentTarget: { checked } }) =>
                onChange({
                  columns: COLUMN_NAMES.filter((one) => (one === name ? checked : columns.includes(one))),
                })
              }
            />
            {COLUMNS[name].title}
          </label>
        ))}
      </div>
    </details>
  );
}
