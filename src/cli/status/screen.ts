const HOME = '\u001b[H';
const CLEAR_TO_LINE_END = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';
// eslint-disable-next-line no-control-regex -- the colors of a row are no characters of it
const COLOR = /\u001b\[\d*m/g;

/** Lines and characters of a terminal; null: it does not say. */
export interface ScreenSize {
  readonly rows: number | null;
  readonly columns: number | null;
}

/**
 * The text that puts these lines in the place of what a terminal shows, without the flicker of clearing it first. Lines
 * that do not fit are counted instead; one that is longer than the terminal is wide takes several.
 */
export function drawScreen(lines: readonly string[], { rows, columns }: ScreenSize): string {
  const shown = rows === null ? lines : cut(lines, { rows: Math.max(3, rows), columns });
  return `${HOME}${shown.map((line) => `${line}${CLEAR_TO_LINE_END}\n`).join('')}${CLEAR_BELOW}`;
}

/** The last line of a screen stays empty: the newline of the one above leads there. */
function cut(
  lines: readonly string[],
  { rows, columns }: { readonly rows: number; readonly columns: number | null },
): readonly string[] {
  const heights = lines.map((line) => heightOf(line, columns));
  const whole = heights.reduce((sum, height) => sum + height, 0);
  if (whole < rows) return lines;
  let room = rows - 2;
  const kept = heights.findIndex((height) => (room -= height) < 0);
  return [...lines.slice(0, kept), `... and ${lines.length - kept} more; --namespace shows fewer`];
}

function heightOf(line: string, columns: number | null): number {
  const length = line.replace(COLOR, '').length;
  return columns === null ? 1 : Math.max(1, Math.ceil(length / columns));
}
