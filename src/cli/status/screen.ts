const HOME = '\u001b[H';
const CLEAR_TO_LINE_END = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

/**
 * The text that puts these lines in the place of what a terminal shows, without the flicker of clearing it first.
 * `rows`: the height of the terminal; lines that do not fit are counted instead. null: it is not known, all are shown.
 */
export function drawScreen(lines: readonly string[], rows: number | null): string {
  const shown = rows === null || lines.length < rows ? lines : cut(lines, Math.max(2, rows - 1));
  return `${HOME}${shown.map((line) => `${line}${CLEAR_TO_LINE_END}\n`).join('')}${CLEAR_BELOW}`;
}

function cut(lines: readonly string[], room: number): readonly string[] {
  const kept = lines.slice(0, room - 1);
  return [...kept, `... and ${lines.length - kept.length} more; --namespace shows fewer`];
}
