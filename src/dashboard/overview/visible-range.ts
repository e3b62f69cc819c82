/** The rows from `first` (inclusive) to `end` (exclusive). */
export interface RowRange {
  readonly first: number;
  readonly end: number;
}

/** The heights of the lines of a list, in pixels. */
export interface Layout {
  readonly rowHeight: number;
  /** Ascending indexes of the lines that are headings of sections. */
  readonly headings: readonly number[];
  readonly headingHeight: number;
}

interface Viewport extends Layout {
  /** Distance from the top of the window to the first row in pixels; negative: the row is above the window. */
  readonly offset: number;
  /** Height of the window in pixels. */
  readonly height: number;
  readonly rows: number;
}

/** How many rows are drawn above and below the window, so that scrolling finds them ready. */
const OVERSCAN = 5;
/** The range moves by multiples of this number of rows, so that scrolling renders less often. */
const STEP = 4;

/**
 * Returns the rows to draw: those in the window, and some above and below. The number of rows depends only on the
 * height of the window, so that a row that enters the range can reuse the element of a row that leaves it.
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

/** Returns the distance in pixels from the top of the first line to the top of this line. */
export function topOf(line: number, { rowHeight, headings, headingHeight }: Layout): number {
  const next = headings.findIndex((heading) => heading >= line);
  const above = next === -1 ? headings.length : next;
  return line * rowHeight - above * (rowHeight - headingHeight);
}

/** Returns the line at this distance in pixels from the top of the first line. */
function lineAt(distance: number, layout: Layout): number {
  const { rowHeight, headings, headingHeight } = layout;
  const next = headings.findIndex((heading) => topOf(heading, layout) + headingHeight > distance);
  const above = next === -1 ? headings.length : next;
  const line = Math.floor((distance + above * (rowHeight - headingHeight)) / rowHeight);
  return Math.min(line, headings[above] ?? line);
}
