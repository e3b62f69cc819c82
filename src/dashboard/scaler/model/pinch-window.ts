/** A time range in Unix seconds. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** The positions of two fingers, from 0 (left edge) to 1 (right edge). */
export type Fingers = readonly [number, number];

/** Minimum distance of the fingers at the start. Without it, the zoom factor would have no limit. */
const MIN_DISTANCE = 0.05;

/**
 * Returns the part of `window` for which the times below both fingers stay the same. Null: the fingers were too close
 * to each other, or have not moved apart.
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
