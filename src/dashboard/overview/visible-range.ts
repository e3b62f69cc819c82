/** The lines from `first` (inclusive) to `end` (exclusive). */
export interface RowRange {
  readonly first: number;
  readonly end: number;
}

/** `short`: a row without a cause, which has one line of text less on a narrow page. */
export type LineKind = 'row' | 'short' | 'heading';

/** The height of each kind of line in pixels. */
export type Heights = Readonly<Record<LineKind, number>>;

interface Viewport {
  /** Distance from the top of the window to the first line in pixels; negative: the line is above the window. */
  readonly offset: number;
  /** Height of the window in pixels. */
  readonly height: number;
  readonly tops: readonly number[];
  /** Height of the lowest kind of line in pixels; 0: unknown. */
  readonly least: number;
}

/** How many lines are drawn above and below the window, so that scrolling finds them ready. */
const OVERSCAN = 5;
/** The range moves by multiples of this number of lines, so that scrolling renders less often. */
const STEP = 4;

/**
 * Returns the lines to draw: the lines in the window, and some above and below. The number of lines depends only on the
 * height of the window, so that a line that enters the range can reuse the element of a line that leaves it.
 */
export function visibleRange({ offset, height, tops, least }: Viewport): RowRange {
  const rows = tops.length - 1;
  if (rows === 0 || least <= 0) return { first: 0, end: 0 };
  const size = Math.ceil(height / least) + 1 + 2 * OVERSCAN + STEP;
  const top = lineAt(-offset, tops) - OVERSCAN;
  const first = Math.max(0, Math.min(Math.floor(top / STEP) * STEP, rows - size));
  return { first, end: Math.min(rows, first + size) };
}

/** Returns the distance in pixels from the top of the first line to each line, and at the end to the last bottom. */
export function topsOf(kinds: readonly LineKind[], heights: Heights): readonly number[] {
  let top = 0;
  return [0, ...kinds.map((kind) => (top += heights[kind]))];
}

/** Returns the last line that begins at or above this distance in pixels from the top of the first line. */
function lineAt(distance: number, tops: readonly number[]): number {
  let [low, high] = [0, tops.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((tops[middle] ?? 0) <= distance) low = middle;
    else high = middle - 1;
  }
  return low;
}
