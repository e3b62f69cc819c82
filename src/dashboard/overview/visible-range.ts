/** Rows from `first` (inclusive) to `end` (exclusive). */
export interface RowRange {
  readonly first: number;
  readonly end: number;
}

/** Heights are in pixels. */
export interface Layout {
  readonly rowHeight: number;
  /** Indexes of the lines that are headings of sections, ascending. */
  readonly headings: readonly number[];
  readonly headingHeight: number;
}

interface Viewport extends Layout {
  /** Distance from the top of the window to the first row; negative if the row is above the window. */
  readonly offset: number;
  /** Height of the window. */
  readonly height: number;
  readonly rows: number;
}

/** Number of rows that are drawn above and below the window, so they are present before they scroll into view. */
const OVERSCAN = 5;
/** The range moves in steps of this many rows, which reduces renderings. */
const STEP = 4;

/**
 * Returns the rows to draw: the rows in the window and some around them. Their number depends only on the window, so
 * each row that leaves the range makes room for a row that enters it.
 */
export function visibleRange({ offset, height, rows, ...layout }: Viewport): RowRange {
  const { rowHeight, headings, headingHeight } = layout;
  if (rows === 0 || rowHeight <= 0) return { first: 0, end: 0 };
  const lowest = headings.length === 0 ? rowHeight : Math.min(rowHeight, headingHeight);
  const size = Math.ceil(height / lowest) + 1 + 2 * OVERSCAN + STEP;
  const top = lineAt(-offset, layout) - OVERSCAN;
  const first = Math.max(0, Math.min(Math.floor(top / STEP) * STEP, rows - size));
  return { first, end: Math.min(rows, first + size) };
}

/** Returns the distance from the first line to this one. */
export function topOf(line: number, { rowHeight, headings, headingHeight }: Layout): number {
  const next = headings.findIndex((heading) => heading >= line);
  const above = next === -1 ? headings.length : next;
  return line * rowHeight - above * (rowHeight - headingHeight);
}

/** Returns the line at this distance from the first one. */
function lineAt(distance: number, layout: Layout): number {
  const { rowHeight, headings, headingHeight } = layout;
  const next = headings.findIndex((heading) => topOf(heading, layout) + headingHeight > distance);
  const above = next === -1 ? headings.length : next;
  const line = Math.floor((distance + above * (rowHeight - headingHeight)) / rowHeight);
  return Math.min(line, headings[above] ?? line);
}
