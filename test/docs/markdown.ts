/** Returns a Markdown table; `|` and line breaks inside of a cell are escaped. */
export function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cellOf).join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}

function cellOf(text: string): string {
  return text
    .replace(/\s*\n\s*/g, ' ')
    .replaceAll('|', '\\|')
    .trim();
}

/** Returns text as inline code; empty text stays empty. */
export function code(text: string): string {
  return text === '' ? '' : `\`${text}\``;
}
