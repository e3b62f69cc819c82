import type { VNode } from 'preact';
import { formatCount } from '../ui/formats.js';
import { useMedia, WIDE } from '../ui/hooks.js';
import { COLUMNS } from './scaler-table.jsx';
import {
  COLUMN_NAMES,
  type Counts,
  type FilterProps,
  isLargestFirst,
  readGroup,
  type Selection,
  SORT_KEYS,
  type SortKey,
} from './selection.js';

interface FieldProps {
  readonly selection: Selection;
  readonly onChange: (change: Partial<Selection>) => void;
}

/** Shows the fields for namespace, grouping, order and columns. It is loaded after the rows. */
export function FilterFields({ counts, groupLabel, ...field }: FilterProps): VNode {
  return (
    <>
      <NamespaceField {...field} counts={counts} />
      <GroupField {...field} groupLabel={groupLabel} />
      <SortField {...field} />
      {useMedia(WIDE) ? <ColumnsField {...field} /> : null}
    </>
  );
}

function NamespaceField({ selection, onChange, counts }: FieldProps & { readonly counts: Counts }): VNode {
  const { namespace } = selection;
  const isGone = namespace !== null && !counts.namespaces.some(([name]) => name === namespace);
  return (
    <select
      aria-label="Namespace"
      value={namespace === null ? '' : `=${namespace}`}
      onChange={({ currentTarget: { value } }) =>
        onChange({ namespace: value === '' ? null : value.slice(1) })
      }
    >
      <option value="">All namespaces</option>
      {isGone ? <option value={`=${namespace}`}>{namespace} (0)</option> : null}
      {counts.namespaces.map(([name, count]) => (
        <option key={name} value={`=${name}`}>
          {name} ({formatCount(count)})
        </option>
      ))}
    </select>
  );
}

/** The label of each sort order, which describes the first row. */
const FIRST: Readonly<Record<SortKey, string>> = {
  name: 'Name A',
  state: 'Most urgent',
  replicas: 'Most replicas',
  metric: 'Highest load',
  since: 'Newest state',
  changed: 'Last changed',
};

function SortField({ selection, onChange }: FieldProps): VNode {
  return (
    <select
      aria-label="Order"
      value={selection.sort}
      onChange={({ currentTarget: { value } }) => {
        const sort = SORT_KEYS.find((key) => key === value);
        if (sort !== undefined) onChange({ sort, isDescending: isLargestFirst(sort) });
      }}
    >
      {SORT_KEYS.map((key) => (
        <option key={key} value={key}>
          {FIRST[key]}{' '}
          {key === selection.sort && selection.isDescending !== isLargestFirst(key) ? 'last' : 'first'}
        </option>
      ))}
    </select>
  );
}

function GroupField({
  selection: { group, sort },
  onChange,
  groupLabel,
}: Omit<FilterProps, 'counts'>): VNode {
  return (
    <select
      aria-label="Group by"
      value={group ?? ''}
      onChange={({ currentTarget: { value } }) => onChange({ group: readGroup(value), closed: [] })}
    >
      <option value="">{sort === 'state' ? 'Grouped by state' : 'Not grouped'}</option>
      <option value="namespace">Grouped by namespace</option>
      {groupLabel === undefined && group !== 'label' ? null : (
        <option value="label">Grouped by {groupLabel ?? 'label'}</option>
      )}
    </select>
  );
}

function ColumnsField({ selection: { columns }, onChange }: FieldProps): VNode {
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
