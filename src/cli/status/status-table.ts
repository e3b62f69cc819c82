import type { Paint } from '../output/paint.js';
import { type Column, fitCell, fitColumns, GAP } from './fit-columns.js';
import type { StatusRow } from './status-row.js';

export interface TableStyle {
  readonly columns: readonly Column[];
  /** Maximum characters per line; null: no limit. */
  readonly limit: number | null;
  readonly paint: Paint;
}

function column(title: string, cell: (cells: StatusRow) => string): Column {
  return { title, forms: (cells) => [cell(cells)], least: null };
}

const NAMESPACE = column('NAMESPACE', ({ namespace }) => namespace);
const NAME = column('NAME', ({ name }) => name);
const MIN = column('MIN', ({ min }) => min);
const MAX = column('MAX', ({ max }) => max);

/** Columns of `-o wide`, which are never truncated. */
export const WIDE_COLUMNS: readonly Column[] = [
  NAMESPACE,
  NAME,
  column('TARGET', ({ target }) => target),
  column('METRICS', ({ metrics: [full = ''] }) => full),
  MIN,
  MAX,
  column('REPLICAS', ({ replicas }) => replicas),
  column('DESIRED', ({ desired }) => desired),
  column('HELD', ({ held: [full = ''] }) => full),
  column('CHANGED', ({ lastChange }) => lastChange),
];

/** For terminals with 80 characters. Omits the namespace if the user specified it. */
export function narrowColumns(isNamespaceNamed: boolean): readonly Column[] {
  return [
    ...(isNamespaceNamed ? [] : [NAMESPACE]),
    NAME,
    { title: 'METRICS', forms: ({ metrics }) => metrics, least: 'METRICS'.length },
    MIN,
    MAX,
    column('REPLICAS', ({ replicas, desired }) =>
      replicas === desired ? replicas : `${replicas}->${desired}`,
    ),
    { title: 'HELD', forms: ({ held }) => held, least: 'FailedGet...'.length },
  ];
}

export function writeTable(rows: readonly StatusRow[], style: TableStyle): readonly string[] {
  const widths = columnWidths(rows, style);
  return [writeTitles(widths, style), ...rows.map((cells) => writeRow(cells, widths, style))];
}

export function columnWidths(rows: readonly StatusRow[], { columns, limit }: TableStyle): readonly number[] {
  return fitColumns(columns, rows, limit);
}

export function writeTitles(widths: readonly number[], { columns }: TableStyle): string {
  return writeCells(
    columns.map(({ title }) => title),
    widths,
  );
}

/** Red if the scaler fails, yellow if its replicas are changing. */
export function writeRow(
  cells: StatusRow,
  widths: readonly number[],
  { columns, paint }: TableStyle,
): string {
  const texts = columns.map((one, index) => fitCell(one, cells, widths[index] ?? 0));
  const line = writeCells(texts, widths);
  if (cells.isFailing) return paint.red(line);
  return cells.isChanging ? paint.yellow(line) : line;
}

function writeCells(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, index) => cell.padEnd(widths[index] ?? 0))
    .join(GAP)
    .trimEnd();
}
