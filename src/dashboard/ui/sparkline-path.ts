interface Box {
  readonly width: number;
  readonly height: number;
}

const MARGIN = 2;

/**
 * Returns the path of a step line from the left to the right edge. The lowest value is at the bottom. Equal values are
 * a line in the middle. Empty without a value.
 */
export function sparklinePath(values: readonly (number | null)[], { width, height }: Box): string {
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) {
    if (value === null) continue;
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  if (least === Infinity) return '';
  const step = width / values.length;
  const y = (value: number): number =>
    most === least
      ? height / 2
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
  return path;
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
