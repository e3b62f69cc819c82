import type { Paint } from '../output/paint.js';
import type { StatusRow, Cell } from './status-row.js';

export interface TableStyle {
  readonly columns: readonly Column[];
  /** Whether the cause is below the row instead of in a column. */
  readonly isCauseBelow: boolean;
  /** Maximum number of characters in a line; null: no limit. */
  readonly limit: number | null;
  readonly paint: Paint;
}

/** Returns a column whose cells are never shortened. */
function column(title: string, text: (row: StatusRow) => string): Column {
  return { title, cell: (row) => ({ head: '', tail: text(row), leastHead: 0, least: text(row) }) };
}

const NAMESPACE = column('NAMESPACE', ({ namespace }) => namespace);
const NAME = column('NAME', ({ name }) => name);
const METRICS: Column = { title: 'METRICS', cell: ({ metrics }) => metrics.full };
const MIN = column('MIN', ({ min }) => min);
const MAX = column('MAX', ({ max }) => max);
/** States of up to 10 characters are never shortened; longer states are shortened only if the line would not fit. */
const LEAST_STATE = 'Stabili...'.length;
const STATE: Column = {
  title: 'STATE',
  cell: ({ state }) => ({
    head: state,
    tail: '',
    leastHead: LEAST_STATE,
    least: state.slice(0, LEAST_STATE),
  }),
};
const SINCE = column('SINCE', ({ since }) => since);
const CAUSE: Column = { title: 'CAUSE', cell: ({ cause }) => cause };

export const WIDE_COLUMNS: readonly Column[] = [
  NAMESPACE,
  NAME,
  column('TARGET', ({ target }) => target),
  METRICS,
  MIN,
  MAX,
  column('REPLICAS', ({ replicas }) => replicas),
  column('DESIRED', ({ desired }) => desired),
  column('CHANGED', ({ lastChange }) => lastChange),
  STATE,
  SINCE,
  CAUSE,
];

/**
 * If lines must be shorter than this, each row shows one metric and has its bounds next to its replicas and its cause
 * below. The columns thus depend only on the width, not on the values.
 */
const FULL_CHARACTERS = 120;

/**
 * Returns the columns for lines of at most `limit` characters; null: no limit. If the user has named the namespace,
 * there is no column for it.
 */
export function columnsFor(
  isNamespaceNamed: boolean,
  limit: number | null,
): Pick<TableStyle, 'columns' | 'isCauseBelow'> {
  const names = [...(isNamespaceNamed ? [] : [NAMESPACE]), NAME];
  if (limit === null || limit >= FULL_CHARACTERS) {
    const replicas = column('REPLICAS', changeText);
    return { columns: [...names, METRICS, MIN, MAX, replicas, STATE, SINCE, CAUSE], isCauseBelow: false };
  }
  const metric: Column = { title: 'METRICS', cell: ({ metrics }) => metrics.short };
  return { columns: [...names, metric, BOUNDED_REPLICAS, STATE, SINCE], isCauseBelow: true };
}

function changeText({ replicas, desired }: StatusRow): string {
  return replicas === desired ? replicas : `${replicas}->${desired}`;
}

/** A document that was never valid has neither replicas nor bounds: they have one `<unknown>`. */
const BOUNDED_REPLICAS = column('REPLICAS', (row) => {
  const { min, max } = row;
  const change = changeText(row);
  return min === change && max === change ? change : `${change} (${min}-${max})`;
});

/** Returns the titles and each row as a string. A row with its cause below has several lines. */
export function writeTable(rows: readonly StatusRow[], style: TableStyle): readonly string[] {
  const widths = columnWidths(rows, style);
  return [writeTitles(widths, style), ...rows.map((cells) => writeRow(cells, widths, style))];
}

export function writeTitles(widths: readonly number[], { columns }: TableStyle): string {
  return writeCells(
    columns.map(({ title }) => title),
    widths,
  );
}

/** Returns the lines of a row: red if the scaler cannot follow its load, yellow if a user holds it. */
export function writeRow(
  cells: StatusRow,
  widths: readonly number[],
  { columns, isCauseBelow, limit, paint }: TableStyle,
): string {
  const texts = columns.map(({ cell }, index) => fitCell(cell(cells), widths[index] ?? 0));
  const { head, tail } = cells.cause;
  const below = isCauseBelow ? indentedLines(`${head}${tail}`, limit) : [];
  return [writeCells(texts, widths), ...below].map((line) => paintLine(line, cells, paint)).join('\n');
}

function paintLine(line: string, { severity }: StatusRow, paint: Paint): string {
  if (severity === 'cannot-follow') return paint.red(line);
  return severity === 'held' ? paint.yellow(line) : line;
}

const INDENT = '    ';

/** Returns a string as indented lines. A word that does not fit into a line is not cut, so that it can be copied. */
function indentedLines(text: string, limit: number | null): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ').filter((one) => one !== '')) {
    const last = lines.at(-1);
    if (last !== undefined && (limit === null || last.length + 1 + word.length <= limit))
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(`${INDENT}${word}`);
  }
  return lines;
}

function writeCells(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, index) => cell.padEnd(widths[index] ?? 0))
    .join(GAP)
    .trimEnd();
}

interface Column {
  readonly title: string;
  readonly cell: (row: StatusRow) => Cell;
}

const GAP = '  ';
const ELLIPSIS = '...';

/**
 * Returns the width of each column for lines of at most `limit` characters; null: no limit. First, the heads of the
 * cells are shortened, from the left column to the right one. Then columns are reduced to their least content, from
 * right to left. If a line still does not fit, it is longer than the limit.
 */
export function columnWidths(rows: readonly StatusRow[], { columns, limit }: TableStyle): readonly number[] {
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

/** Returns the cell as text. If it is too long, `...` replaces the end of the head, or `least` replaces the cell. */
function fitCell(cell: Cell, width: number): string {
  const { head, tail, least } = cell;
  if (head.length + tail.length <= width) return `${head}${tail}`;
  if (leastWithTail(cell) > width) return least;
  return `${head.slice(0, Math.max(0, width - tail.length - ELLIPSIS.length))}${ELLIPSIS}${tail}`;
}
