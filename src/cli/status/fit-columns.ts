import type { StatusRow } from './status-row.js';

/** A column. `forms` returns the possible contents of a cell, the longest first. */
export interface Column {
  readonly title: string;
  readonly forms: (cells: StatusRow) => readonly string[];
  /** Minimum width if the line is too long; null: never shortened. */
  readonly least: number | null;
}

export const GAP = '  ';

/**
 * Returns widths for lines of at most `limit` characters; null: no limit. First, columns switch to shorter forms from
 * left to right; then they are truncated from right to left.
 */
export function fitColumns(
  columns: readonly Column[],
  rows: readonly StatusRow[],
  limit: number | null,
): readonly number[] {
  const sized = columns.map(({ title, forms, least }) => {
    const lengths = rows.map((cells) => forms(cells).map(({ length }) => length));
    const width = Math.max(title.length, ...lengths.map((row) => row[0] ?? 0));
    const shortest = Math.max(title.length, ...lengths.map((row) => row.at(-1) ?? 0));
    return { width, shortest: Math.min(width, shortest), least: Math.min(width, least ?? width) };
  });
  if (limit === null) return sized.map(({ width }) => width);
  const widths = sized.map(({ width }) => width);
  const length = widths.reduce((sum, width) => sum + width, 0) + GAP.length * (columns.length - 1);
  const inOrder = [...sized.keys()].filter((index) => columns[index]?.least !== null);
  let excess = length - limit;
  const shrink = (index: number, to: number): void => {
    const cut = Math.max(0, Math.min(excess, (widths[index] ?? 0) - to));
    widths[index] = (widths[index] ?? 0) - cut;
    excess -= cut;
  };
  for (const index of inOrder) shrink(index, sized[index]?.shortest ?? 0);
  for (const index of inOrder.reverse()) shrink(index, sized[index]?.least ?? 0);
  return widths;
}

/** Returns the longest form that fits, or the truncated shortest form. */
export function fitCell({ forms, least }: Column, cells: StatusRow, width: number): string {
  const all = forms(cells);
  const fitting = all.find((form) => form.length <= width);
  const shortest = all.at(-1) ?? '';
  if (fitting !== undefined || least === null) return fitting ?? shortest;
  return `${shortest.slice(0, Math.max(0, width - 3))}...`;
}
