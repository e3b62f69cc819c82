interface Box {
  /** The value at the bottom edge, unless a value is lower; default: the lowest value. */
  readonly least?: number | undefined;
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
 * Returns the line of the values and the position of the line for `maximum`. The lowest number is at the bottom, the
 * highest at the top. If all values are equal and there is no maximum, the line is in the middle.
 */
export function sparklineOf(
  values: readonly (number | null)[],
  maximum: number | null,
  { width, height, least: bottom = Infinity }: Box,
): SparklineShape {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return { path: '', maximumY: null };
  const least = Math.min(...known, maximum ?? Infinity, bottom);
  const most = Math.max(...known, maximum ?? -Infinity);
  const step = width / values.length;
  const y = (value: number): number =>
    most === least
      ? maximum === null
        ? height / 2
        : MARGIN
      : rounded(height - MARGIN - ((value - least) / (most - least)) * (height - 2 * MARGIN));
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
