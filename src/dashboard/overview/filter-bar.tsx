import type { TargetedKeyboardEvent, VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { formatCount } from '../ui/numbers.js';
import { Icon } from '../ui/icon.jsx';
import { SEVERITIES, SEVERITY_STYLES } from '../ui/severities.js';
import { WIDE, useMedia } from '../ui/use-media.js';
import { usePart } from '../ui/use-part.js';
import { SORT_KEYS, isLargestFirst } from './selection.js';
import type { Counts, Selection, SortKey } from './selection.js';

interface FilterBarProps {
  readonly selection: Selection;
  readonly onChange: (change: Partial<Selection>) => void;
  readonly counts: Counts;
}

export function FilterBar(props: FilterBarProps): VNode {
  const { selection, onChange, counts } = props;
  const isWide = useMedia(WIDE);
  const { part: columns } = usePart(loadColumns, isWide);
  const fields = (
    <>
      <NamespaceField selection={selection} onChange={onChange} counts={counts} />
      <GroupField selection={selection} onChange={onChange} />
      <SortField selection={selection} onChange={onChange} />
    </>
  );
  return (
    <search class="filters">
      <div class="filter-line">
        <SearchField selection={selection} onChange={onChange} />
        {isWide ? (
          <>
            {fields}
            {columns && <columns.ColumnsField selection={selection} onChange={onChange} />}
          </>
        ) : (
          <details class="more-filters">
            <summary>Filter and order</summary>
            {fields}
          </details>
        )}
      </div>
      <SeverityChips selection={selection} onChange={onChange} counts={counts} />
    </search>
  );
}

const loadColumns = () => import('./columns-field.jsx');

type FieldProps = Pick<FilterBarProps, 'selection' | 'onChange'>;

function SearchField({ selection, onChange }: FieldProps): VNode {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target instanceof Element && event.target.closest('input, textarea, select') !== null) return;
      event.preventDefault();
      field.current?.focus();
      field.current?.select();
    };
    addEventListener('keydown', focus);
    return () => removeEventListener('keydown', focus);
  }, []);
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLInputElement>): void => {
    if (event.key === 'Escape') onChange({ search: '' });
    if (event.key !== 'ArrowDown' && event.key !== 'Enter') return;
    event.preventDefault();
    document.querySelector<HTMLElement>('.scaler-row a')?.focus();
  };
  return (
    <div class="search-field">
      <Icon name="search" />
      <input
        ref={field}
        type="search"
        value={selection.search}
        placeholder="Search"
        aria-label="Search scalers"
        aria-keyshortcuts="/"
        autocomplete="off"
        spellcheck={false}
        maxLength={500}
        onInput={({ currentTarget }) => onChange({ search: currentTarget.value })}
        onKeyDown={onKeyDown}
      />
      <kbd aria-hidden="true">/</kbd>
    </div>
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

/** What is first; last in the reverse order. */
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

function GroupField({ selection: { group }, onChange }: FieldProps): VNode {
  return (
    <select
      aria-label="Group by"
      value={group ?? ''}
      onChange={({ currentTarget: { value } }) =>
        onChange({ group: value === 'namespace' ? value : null, closed: [] })
      }
    >
      <option value="">Grouped by state</option>
      <option value="namespace">Grouped by namespace</option>
    </select>
  );
}

function SeverityChips({
  selection: { severities },
  onChange,
  counts,
}: FieldProps & { readonly counts: Counts }): VNode {
  const shown = SEVERITIES.filter((one) => counts.severities.has(one) || severities.includes(one));
  return (
    <div class="chips" role="group" aria-label="State">
      {shown.map((severity) => {
        const { text, tone, icon } = SEVERITY_STYLES[severity];
        const isOn = severities.includes(severity);
        return (
          <button
            key={severity}
            type="button"
            class="chip"
            aria-pressed={isOn}
            onClick={() =>
              onChange({
                severities: isOn ? severities.filter((one) => one !== severity) : [...severities, severity],
              })
            }
          >
            <span class={`chip-icon tone-${tone}`}>
              <Icon name={icon} />
            </span>
            {text} <span class="chip-count">{formatCount(counts.severities.get(severity) ?? 0)}</span>
          </button>
        );
      })}
    </div>
  );
}
