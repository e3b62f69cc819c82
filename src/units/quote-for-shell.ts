/** Quotes for a POSIX shell: single quotes unless every character is plain. */
export function quoteForShell(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
