import type { VNode } from 'preact';
import { Icon } from '../ui/icon.jsx';
import { useMedia } from '../ui/use-media.js';
import { WIDE } from './layout.js';
import type { Selection, SortKey } from './selection.js';

interface SortHeaderProps {
  readonly class: string;
  readonly title: string;
  /** Null: the column cannot be sorted. */
  readonly sort: SortKey | null;
  readonly selection: Selection;
  readonly onChange: (change: Partial<Selection>) => void;
}

/** Shows the header of a column. On a narrow page it is hidden, and a list above the rows sorts instead. */
export function SortHeader(props: SortHeaderProps): VNode {
  const { title, sort, selection, onChange } = props;
  const isWide = useMedia(WIDE);
  const isSorted = sort !== null && selection.sort === sort;
  const order = selection.isDescending ? 'descending' : 'ascending';
  return (
    <div role="columnheader" class={props.class} aria-sort={isSorted ? order : undefined}>
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
          {isSorted ? <Icon name={selection.isDescending ? 'down' : 'up'} /> : null}
        </button>
      )}
    </div>
  );
}

/**
 * Returns whether a sort starts with the largest value. Viewers look for the largest counts and the last changes first.
 */
export function isLargestFirst(sort: SortKey): boolean {
  return sort === 'replicas' || sort === 'metric' || sort === 'changed';
}
