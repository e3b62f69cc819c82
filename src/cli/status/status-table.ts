import type { Colors } from 'picocolors/types.js';
import { COLUMNS, type StatusRow } from './status-row.js';

/** How wide each column must be for these rows and its title. */
export function columnWidths(rows: readonly StatusRow[]): readonly number[] {
  return COLUMNS.map(({ title, cell }) => Math.max(title.length, ...rows.map((cells) => cells[cell].length)));
}

/** Titles and rows, a line each. */
export function writeTable(rows: readonly StatusRow[], paint: Colors): readonly string[] {
  const widths = columnWidths(rows);
  return [writeTitles(widths), ...rows.map((cells) => writeRow(cells, widths, paint))];
}

/** The line of titles. */
export function writeTitles(widths: readonly number[]): string {
  return writeCells(
    COLUMNS.map(({ title }) => title),
    widths,
  );
}

/** One row: red where it fails, yellow where it changes. */
export function writeRow(cells: StatusRow, widths: readonly number[], paint: Colors): string {
  const texts = COLUMNS.map(({ cell }) => cells[cell]);
  const line = writeCells(texts, widths);
  if (cells.isFailing) return paint.red(line);
  return cells.isChanging ? paint.yellow(line) : line;
}

function writeCells(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, column) => cell.padEnd(widths[column] ?? 0))
    .join('   ')
    .trimEnd();
}
