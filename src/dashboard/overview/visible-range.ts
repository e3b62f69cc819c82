/** Rows from `first` up to, not including, `end`. */
export interface RowRange {
  readonly first: number;
  readonly end: number;
}

interface Viewport {
  /** Distance from the top of the window down to the first row; negative: it is above the window. */
  readonly offset: number;
  /** Height of the window. */
  readonly height: number;
  readonly rowHeight: number;
  readonly rows: number;
}

/** Rows drawn above and below the window, so that a step of scrolling finds them there. */
const OVERSCAN = 5;
/** The range moves by this many rows at once: fewer renderings. */
const STEP = 4;

/**
 * Returns the rows to draw: those in the window and some around them. Their number depends only on the window, so that
 * each row that leaves the range makes room for one that enters it.
 */
export function visibleRange({ offset, height, rowHeight, rows }: Viewport): RowRange {
  if (rows === 0 || rowHeight <= 0) return { first: 0, end: 0 };
  const size = Math.ceil(height / rowHeight) + 1 + 2 * OVERSCAN + STEP;
  const top = Math.floor(-offset / rowHeight) - OVERSCAN;
  const first = Math.max(0, Math.min(Math.floor(top / STEP) * STEP, rows - size));
  return { first, end: Math.min(rows, first + size) };
}
