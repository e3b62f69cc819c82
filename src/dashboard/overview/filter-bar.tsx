import type { TargetedKeyboardEvent, VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { formatCount } from '../ui/formats.js';
import { usePart } from '../ui/hooks.js';
import { useMedia, WIDE } from '../ui/hooks.js';
import { Icon } from '../ui/icon.jsx';
import { SEVERITIES, SEVERITY_STYLES } from '../ui/severities.js';
import type { Counts, FilterProps } from './selection.js';

export function FilterBar(props: FilterProps): VNode {
  const { selection, onChange, counts } = props;
  const isWide = useMedia(WIDE);
  const { part } = usePart(loadFields, true);
  const fields = part && <part.FilterFields {...props} />;
  return (
    <search class="filters">
      <div class="filter-line">
        <SearchField selection={selection} onChange={onChange} />
        {isWide ? (
          fields
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

const loadFields = () => import('./filter-fields.jsx');

type FieldProps = Pick<FilterProps, 'selection' | 'onChange'>;

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
