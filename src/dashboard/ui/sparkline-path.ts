interface Box {
  readonly width: number;
  readonly height: number;
}

interface SparklineShape {
  /** The SVG path of a step line from the left to the right edge; empty: there are no values. */
  readonly path: string;
  /** Distance of the maximum from the top; null: there is no maximum. */
  readonly maximumY: number | null;
}

const MARGIN = 2;

/**
 * Returns the line of the values and the position of the line for `maximum`. As in the chart of a scaler, 0 is at the
 * bottom, so that a small change looks small. The highest number is at the top.
 */
export function sparklineOf(
  values: readonly (number | null)[],
  maximum: number | null,
  { width, height }: Box,
): SparklineShape {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return { path: '', maximumY: null };
  const most = Math.max(1, maximum ?? 0, ...known);
  const step = width / values.length;
  const y = (value: number): number => rounded(height - MARGIN - (value / most) * (height - 2 * MARGIN));
  let path = '';
  let isDrawing = false;
  for (const [index, value] of values.entries()) {
    if (value !== null) {
      const from = rounded(index * step);
      path += isDrawing ? `V${y(value)}` : `M${from} ${y(value)}`;
      path += `H${rounded(from + step)}`;
    }
    isDrawing = value !== null;
  }
  return { path, maximumY: maximum === null ? null : y(maximum) };
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
