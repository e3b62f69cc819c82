const HOME = '\u001b[H';
const CLEAR_TO_LINE_END = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';
// eslint-disable-next-line no-control-regex -- color sequences do not count for the width
const COLOR = /\u001b\[\d*m/g;

/** In lines and characters; null: unknown. */
export interface ScreenSize {
  readonly rows: number | null;
  readonly columns: number | null;
}

/**
 * Returns output that replaces the contents of a terminal without flicker. If not all lines fit, the last row shows how
 * many are hidden. A line wider than the terminal takes several rows.
 */
export function drawScreen(lines: readonly string[], { rows, columns }: ScreenSize): string {
  const shown = rows === null ? lines : cut(lines, { rows: Math.max(3, rows), columns });
  return `${HOME}${shown.map((line) => `${line}${CLEAR_TO_LINE_END}\n`).join('')}${CLEAR_BELOW}`;
}

/** The last row of the screen stays empty, because the row above it ends with a newline. */
function cut(
  lines: readonly string[],
  { rows, columns }: { readonly rows: number; readonly columns: number | null },
): readonly string[] {
  const heights = lines.map((line) => heightOf(line, columns));
  const whole = heights.reduce((sum, height) => sum + height, 0);
  if (whole < rows) return lines;
  let room = rows - 2;
  const kept = heights.findIndex((height) => (room -= height) < 0);
  return [...lines.slice(0, kept), `... and ${lines.length - kept} more; use --namespace to list fewer`];
}

function heightOf(line: string, columns: number | null): number {
  const length = line.replace(COLOR, '').length;
  return columns === null ? 1 : Math.max(1, Math.ceil(length / columns));
}
