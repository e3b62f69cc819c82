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
const OVERSCAN = 6;
/** The range moves by this many rows at once: fewer renderings. */
const STEP = 4;

/** Returns the rows to draw: those in the window and some around them. */
export function visibleRange({ offset, height, rowHeight, rows }: Viewport): RowRange {
  if (rows === 0 || rowHeight <= 0) return { first: 0, end: 0 };
  const top = Math.floor(-offset / rowHeight) - OVERSCAN;
  const bottom = Math.ceil((height - offset) / rowHeight) + OVERSCAN;
  const first = Math.min(Math.max(0, Math.floor(top / STEP) * STEP), rows);
  const end = Math.min(rows, Math.max(first, Math.ceil(bottom / STEP) * STEP));
  return { first, end };
}
