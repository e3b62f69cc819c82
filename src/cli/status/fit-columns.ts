import type { Cell, StatusRow } from './status-row.js';

/** A column of the table. */
export interface Column {
  readonly title: string;
  readonly cell: (row: StatusRow) => Cell;
}

export const GAP = '  ';
const ELLIPSIS = '...';

/**
 * Returns widths for lines of at most `limit` characters; null: no limit. First, the heads of cells are shortened, from
 * left to right; then columns are reduced to their least content, from right to left. Lines that do not fit then are
 * longer than the limit.
 */
export function fitColumns(
  columns: readonly Column[],
  rows: readonly StatusRow[],
  limit: number | null,
): readonly number[] {
  const widthsOf = (lengthOf: (cell: Cell) => number): readonly number[] =>
    columns.map(({ title, cell }) => Math.max(title.length, ...rows.map((row) => lengthOf(cell(row)))));
  const widths = [...widthsOf(({ head, tail }) => head.length + tail.length)];
  if (limit === null) return widths;
  let excess = widths.reduce((sum, width) => sum + width, 0) + GAP.length * (columns.length - 1) - limit;
  const shrink = (index: number, to: number): void => {
    const cut = Math.max(0, Math.min(excess, (widths[index] ?? 0) - to));
    widths[index] = (widths[index] ?? 0) - cut;
    excess -= cut;
  };
  widthsOf(leastWithTail).forEach((width, index) => shrink(index, width));
  const least = widthsOf((cell) => cell.least.length);
  for (const index of [...least.keys()].reverse()) shrink(index, least[index] ?? 0);
  return widths;
}

function leastWithTail({ head, tail, leastHead }: Cell): number {
  return tail.length + Math.min(head.length, leastHead);
}

/** Returns the cell; if it does not fit, with `...` for the end of its head, or its least content. */
export function fitCell(cell: Cell, width: number): string {
  const { head, tail, least } = cell;
  if (head.length + tail.length <= width) return `${head}${tail}`;
  if (leastWithTail(cell) > width) return least;
  return `${head.slice(0, Math.max(0, width - tail.length - ELLIPSIS.length))}${ELLIPSIS}${tail}`;
}
