/** Rows from `first` (inclusive) to `end` (exclusive). */
export interface RowRange {
  readonly first: number;
  readonly end: number;
}

interface Viewport {
  /** Distance from the top of the window to the first row; negative if the row is above the window. */
  readonly offset: number;
  /** Height of the window. */
  readonly height: number;
  readonly rowHeight: number;
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
export function visibleRange({ offset, height, rowHeight, rows }: Viewport): RowRange {
  if (rows === 0 || rowHeight <= 0) return { first: 0, end: 0 };
  const size = Math.ceil(height / rowHeight) + 1 + 2 * OVERSCAN + STEP;
  const top = Math.floor(-offset / rowHeight) - OVERSCAN;
  const first = Math.max(0, Math.min(Math.floor(top / STEP) * STEP, rows - size));
  return { first, end: Math.min(rows, first + size) };
}
