interface Box {
  /** The value at the bottom; default: the lowest one. */
  readonly least?: number | undefined;
  readonly width: number;
  readonly height: number;
}

interface SparklineShape {
  /** A step line from the left to the right edge; empty without a value. */
  readonly path: string;
  /** Position of the maximum, from the top; null: unknown. */
  readonly maximumY: number | null;
}

const MARGIN = 2;

/**
 * Returns the shape of a line with its maximum. The lowest value is at the bottom, and the maximum or a larger value at
 * the top. Equal values without a maximum are a line in the middle.
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
