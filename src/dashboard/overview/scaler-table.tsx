import type { TargetedKeyboardEvent, VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { OverviewRow } from '../../api/answers.js';
import { ScalerRow } from './scaler-row.jsx';
import type { Selection, SortKey } from './selection.js';
import { keyOf } from './merge-overview.js';
import { SortHeader } from './sort-header.jsx';
import { useScrollMemory } from '../ui/scroll-memory.js';
import { useVirtualRows } from './use-virtual-rows.js';

interface ScalerTableProps {
  readonly rows: readonly OverviewRow[];
  readonly selection: Selection;
  readonly onChange: (change: Partial<Selection>) => void;
  readonly nowMs: number;
  /** Key of a row with changes -> time of the changes. */
  readonly news: ReadonlyMap<string, string>;
}

interface ColumnHead {
  readonly title: string;
  readonly sort: SortKey | null;
  readonly name: string;
}

const COLUMNS: readonly ColumnHead[] = [
  { title: 'Scaler', sort: 'name', name: 'name' },
  { title: 'State', sort: 'state', name: 'state' },
  { title: 'Replicas', sort: 'replicas', name: 'replicas' },
  { title: 'Last 2 hours', sort: null, name: 'trend' },
  { title: 'Metric / target', sort: 'metric', name: 'metric' },
  { title: 'Cause', sort: null, name: 'reason' },
  { title: 'Changed', sort: 'changed', name: 'changed' },
];

/** Shows thousands of scalers. Only the rows in the window are in the document. */
export function ScalerTable({ rows, selection, onChange, nowMs, news }: ScalerTableProps): VNode {
  const body = useRef<HTMLDivElement>(null);
  const probe = useRef<HTMLDivElement>(null);
  const { first, end, rowHeight } = useVirtualRows({ body, probe, rows: rows.length });
  useScrollMemory('overview', rowHeight > 0);
  const { focused, onFocus, onBlur, onKeyDown } = useRowFocus(body, rows.length, end - first);

  const indexes = Array.from({ length: end - first }, (_, at) => first + at);
  // The focused row stays in the document; otherwise the focus would be lost.
  if (focused !== null && focused < rows.length && (focused < first || focused >= end)) indexes.push(focused);
  return (
    <div
      class="scalers"
      role="table"
      aria-label="Scalers"
      aria-rowcount={rows.length + 1}
      aria-colcount={COLUMNS.length}
    >
      <div role="rowgroup" class="scalers-head">
        <div role="row" aria-rowindex={1} class="scaler-head">
          {COLUMNS.map(({ title, sort, name }) => (
            <SortHeader
              key={name}
              class={`cell-${name}`}
              title={title}
              sort={sort}
              selection={selection}
              onChange={onChange}
            />
          ))}
        </div>
      </div>
      <div ref={probe} class="row-probe" aria-hidden="true" />
      <div
        ref={body}
        role="rowgroup"
        class="scalers-body"
        style={{ height: `${rows.length * rowHeight}px` }}
        onFocusCapture={onFocus}
        onBlurCapture={onBlur}
        onKeyDown={onKeyDown}
      >
        {indexes.map((index) => {
          const row = rows[index];
          if (row === undefined) return null;
          const key = keyOf(row);
          return (
            <ScalerRow
              key={slotOf(index, end - first, focused)}
              row={row}
              index={index}
              rowHeight={rowHeight}
              nowMs={nowMs}
              newsAt={news.get(key) ?? null}
            />
          );
        })}
      </div>
    </div>
  );
}

/**
 * Returns which element of the table shows a row. An element whose row has left the window shows another row, which is
 * faster than a new element. The element of the focused row is not reused.
 */
function slotOf(index: number, slots: number, focused: number | null): number {
  const slot = index % slots;
  return focused !== null && focused !== index && focused % slots === slot ? slots : slot;
}

interface RowFocus {
  readonly focused: number | null;
  readonly onFocus: (event: FocusEvent) => void;
  readonly onBlur: () => void;
  readonly onKeyDown: (event: TargetedKeyboardEvent<HTMLDivElement>) => void;
}

/** Number of rows for Page Up and Page Down. */
const PAGE = 10;

/** Moves the focus between rows with the arrow keys, Home, End, Page Up and Page Down. */
function useRowFocus(
  body: { readonly current: HTMLDivElement | null },
  count: number,
  slots: number,
): RowFocus {
  const [focused, setFocused] = useState<number | null>(null);
  const wanted = useRef<number | null>(null);
  // Runs before the next key is handled. An effect after painting may run too late.
  useLayoutEffect(() => {
    if (wanted.current === null) return;
    const link = linkOf(body, wanted.current);
    wanted.current = null;
    link?.focus({ preventScroll: true });
    link?.closest('[role=row]')?.scrollIntoView({ block: 'nearest' });
  }, [focused, body]);
  // After a change of the window height, each row has another element.
  useLayoutEffect(() => {
    if (focused !== null) linkOf(body, focused)?.focus({ preventScroll: true });
  }, [slots]);
  return {
    focused,
    onFocus: ({ target }) => {
      const row = target instanceof Element ? target.closest<HTMLElement>('[data-index]') : null;
      setFocused(row === null ? null : Number(row.dataset['index']));
    },
    onBlur: () => {
      if (wanted.current === null) setFocused(null);
    },
    onKeyDown: (event) => {
      const next = focused === null ? null : nextIndex(event.key, focused);
      if (next === null || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      wanted.current = Math.max(0, Math.min(count - 1, next));
      setFocused(wanted.current);
    },
  };

  function nextIndex(key: string, from: number): number | null {
    if (key === 'ArrowDown') return from + 1;
    if (key === 'ArrowUp') return from - 1;
    if (key === 'PageDown') return from + PAGE;
    if (key === 'PageUp') return from - PAGE;
    if (key === 'Home') return 0;
    return key === 'End' ? count - 1 : null;
  }
}

function linkOf(body: { readonly current: HTMLDivElement | null }, index: number): HTMLElement | null {
  return body.current?.querySelector<HTMLElement>(`[data-index="${index}"] a`) ?? null;
}
