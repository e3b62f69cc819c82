import type { TargetedKeyboardEvent, VNode } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { formatCount } from '../ui/formats.js';
import { Icon } from '../ui/icon.jsx';
import { useScrollMemory, useVirtualRows } from './use-virtual-rows.js';
import { SEVERITY_STYLES } from '../ui/severities.js';
import { WIDE, useMedia } from '../ui/hooks.js';
import { placeOf, ScalerRow } from './scaler-row.jsx';
import { isLargestFirst, lineKey, UNKNOWN_PERCENT } from './selection.js';
import type { ColumnName, Line, SectionLine, Selection, SortKey } from './selection.js';
import type { LineKind } from './visible-range.js';

interface ScalerTableProps {
  readonly lines: readonly Line[];
  readonly selection: Selection;
  readonly onChange: (change: Partial<Selection>) => void;
  /** Maps the key of a row that has changed to the time of the change. */
  readonly news: ReadonlyMap<string, string>;
  /** Whether everything above the table is rendered, so that the table does not move anymore. */
  readonly isPlaced: boolean;
}

interface ColumnHead {
  readonly title: string;
  /** The order that the column sets; null: the table cannot be sorted by the column. */
  readonly sort: SortKey | null;
  /** Width of the column as a track of a CSS grid. */
  readonly width: string;
}

const NAME: ColumnHead = { title: 'Scaler', sort: 'name', width: 'minmax(7rem, 18%)' };
const STATE: ColumnHead = { title: 'State', sort: 'state', width: '8.25rem' };

export const COLUMNS: Readonly<Record<ColumnName, ColumnHead>> = {
  replicas: { title: 'Replicas / max', sort: 'replicas', width: '6.25rem' },
  trend: { title: 'Last 2 hours', sort: null, width: '6rem' },
  metric: { title: 'Load', sort: 'metric', width: '7.25rem' },
  reason: { title: 'Cause', sort: null, width: 'minmax(8rem, 3fr)' },
  since: { title: 'Since', sort: 'since', width: '6.5rem' },
  changed: { title: 'Changed', sort: 'changed', width: '6.5rem' },
};

/** Shows thousands of scalers. Only the visible rows and the focused row are in the DOM. */
export function ScalerTable(props: ScalerTableProps): VNode {
  const { lines, selection, onChange, news, isPlaced } = props;
  const body = useRef<HTMLDivElement>(null);
  const probe = useRef<HTMLDivElement>(null);
  const { columns } = selection;
  const kinds = useMemo(() => lines.map((line) => kindOf(line, columns)), [lines, columns]);
  const { first, end, tops } = useVirtualRows({ body, probe, kinds });
  const height = tops.at(-1) ?? 0;
  useScrollMemory('overview', height > 0 && isPlaced);
  const { focused, onFocus, onBlur, onKeyDown } = useRowFocus(body, lines.length, end - first);

  const indexes = Array.from({ length: end - first }, (_, at) => first + at);
  // The focused row stays in the DOM, because otherwise the focus would be lost.
  if (focused !== null && focused < lines.length && (focused < first || focused >= end))
    indexes.push(focused);
  const heads = [
    ['name', NAME],
    ['state', STATE],
    ...selection.columns.map((name) => [name, COLUMNS[name]] as const),
  ] as const;
  return (
    <div
      class="scalers"
      style={{ '--columns': heads.map(([, { width }]) => width).join(' ') }}
      role="table"
      aria-label="Scalers"
      aria-rowcount={lines.length + 1}
      aria-colcount={heads.length}
    >
      <div role="rowgroup" class="scalers-head">
        <div role="row" aria-rowindex={1} class="scaler-head">
          {heads.map(([name, head]) => (
            <SortHeader key={name} name={name} head={head} selection={selection} onChange={onChange} />
          ))}
        </div>
      </div>
      <div ref={probe} class="row-probe" aria-hidden="true">
        <i />
        <i />
        <i />
      </div>
      <div
        ref={body}
        role="rowgroup"
        class="scalers-body"
        style={{ height: `${height}px` }}
        onFocusCapture={onFocus}
        onBlurCapture={onBlur}
        onKeyDown={onKeyDown}
      >
        {indexes.map((index) => {
          const line = lines[index];
          if (line === undefined) return null;
          const slot = slotOf(index, end - first, focused);
          if ('section' in line)
            return (
              <SectionRow
                key={slot}
                index={index}
                top={tops[index] ?? 0}
                section={line.section}
                cells={heads.length}
                selection={selection}
                onChange={onChange}
              />
            );
          return (
            <ScalerRow
              key={slot}
              index={index}
              top={tops[index] ?? 0}
              row={line.row}
              isShort={kinds[index] === 'short'}
              columns={selection.columns}
              newsAt={news.get(lineKey(line)) ?? null}
            />
          );
        })}
      </div>
    </div>
  );
}

function kindOf(line: Line, columns: readonly ColumnName[]): LineKind {
  if ('section' in line) return 'heading';
  return line.row.state.cause === null || !columns.includes('reason') ? 'short' : 'row';
}

interface SortHeaderProps {
  readonly name: string;
  readonly head: ColumnHead;
  readonly selection: Selection;
  readonly onChange: (change: Partial<Selection>) => void;
}

/** Shows the header of a column. On a narrow page, headers are hidden, and a field above the rows sets the order. */
function SortHeader({ name, head: { title, sort }, selection, onChange }: SortHeaderProps): VNode {
  const isWide = useMedia(WIDE);
  const isSorted = sort !== null && selection.sort === sort;
  const order = selection.isDescending ? 'descending' : 'ascending';
  return (
    <div role="columnheader" class={`cell-${name}`} aria-sort={isSorted ? order : undefined}>
      {sort === null || !isWide ? (
        title
      ) : (
        <button
          type="button"
          class="sort-button"
          onClick={() =>
            onChange({ sort, isDescending: isSorted ? !selection.isDescending : isLargestFirst(sort) })
          }
        >
          {title}
          {isSorted && sort !== 'state' ? <Icon name={selection.isDescending ? 'down' : 'up'} /> : null}
        </button>
      )}
    </div>
  );
}

interface SectionRowProps extends Pick<SortHeaderProps, 'selection' | 'onChange'> {
  readonly section: SectionLine;
  readonly index: number;
  readonly top: number;
  /** The number of columns that the heading covers. */
  readonly cells: number;
}

function SectionRow({ section, index, top, cells, selection, onChange }: SectionRowProps): VNode {
  const { key, severity, title, rows, isClosed } = section;
  const style = severity === null ? null : SEVERITY_STYLES[severity];
  const { closed } = selection;
  return (
    <div class="section-row" {...placeOf(index, top)}>
      <div role="cell" aria-colspan={cells}>
        <button
          type="button"
          aria-expanded={!isClosed}
          onClick={() =>
            onChange({ closed: isClosed ? closed.filter((one) => one !== key) : [...closed, key] })
          }
        >
          {style === null ? null : (
            <span class={`section-icon tone-${style.tone}`}>
              <Icon name={style.icon} />
            </span>
          )}
          <bdi>{title}</bdi> <span class="muted">{formatCount(rows)}</span>
          {severity === 'cannot-follow' && rows > 1 && !selection.isDescending ? <Order /> : null}
        </button>
      </div>
    </div>
  );
}

/** Shows the order of the scalers that cannot follow their load. */
function Order(): VNode {
  return (
    <span class="hint section-order">
      highest load first
      <span class="section-order-more">
        ; a missing target or an unknown load counts as {UNKNOWN_PERCENT} %
      </span>
    </span>
  );
}

/**
 * Returns the number of the DOM element for a row. The element of a row that is no longer visible is reused for another
 * row, because that is faster than creating an element. The element of the focused row is not reused.
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

/** Number of rows by which Page Up and Page Down move the focus. */
const PAGE = 10;

/** Moves the focus between rows with j and k, the arrow keys, Home, End, Page Up and Page Down. */
function useRowFocus(
  body: { readonly current: HTMLDivElement | null },
  count: number,
  slots: number,
): RowFocus {
  const [focused, setFocused] = useState<number | null>(null);
  const wanted = useRef<number | null>(null);
  // This is a layout effect, because it must run before the next key is handled. `useEffect` may run later.
  useLayoutEffect(() => {
    if (wanted.current === null) return;
    const link = linkOf(body, wanted.current);
    wanted.current = null;
    link?.focus({ preventScroll: true });
    link?.closest('[role=row]')?.scrollIntoView({ block: 'nearest' });
  }, [focused, body]);
  // When the height of the window has changed, each row gets another element, and the focus must be moved to it.
  useLayoutEffect(() => {
    if (focused !== null) linkOf(body, focused)?.focus({ preventScroll: true });
  }, [slots, focused, body]);
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
    if (key === 'ArrowDown' || key === 'j') return from + 1;
    if (key === 'ArrowUp' || key === 'k') return from - 1;
    if (key === 'PageDown') return from + PAGE;
    if (key === 'PageUp') return from - PAGE;
    if (key === 'Home') return 0;
    return key === 'End' ? count - 1 : null;
  }
}

function linkOf(body: { readonly current: HTMLDivElement | null }, index: number): HTMLElement | null {
  return body.current?.querySelector<HTMLElement>(`[data-index="${index}"] :is(a, button)`) ?? null;
}
