/** Unix times in seconds. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** Positions of two fingers, as shares of the width from the left edge. */
export type Fingers = readonly [number, number];

/** Minimum distance, because closer fingers would zoom by any factor. */
const MIN_DISTANCE = 0.05;

/**
 * Returns the window that keeps the same times below the fingers, limited to `window`. Null if the fingers are too
 * close to each other, or do not move apart.
 */
export function pinchWindow(window: Span, start: Fingers, now: Fingers): Span | null {
  const [fromLeft, fromRight] = start.toSorted((a, b) => a - b);
  const [left, right] = now.toSorted((a, b) => a - b);
  if (fromLeft === undefined || fromRight === undefined || left === undefined || right === undefined)
    return null;
  if (fromRight - fromLeft < MIN_DISTANCE || right - left <= fromRight - fromLeft) return null;
  const span = window.to - window.from;
  const zoomed = (span * (fromRight - fromLeft)) / (right - left);
  const from = window.from + fromLeft * span - left * zoomed;
  return { from: Math.max(window.from, from), to: Math.min(window.to, from + zoomed) };
}
