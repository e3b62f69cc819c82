import type { Scalar } from 'yaml';

/**
 * Converts an offset in the value of a YAML scalar to an offset in the file. Compares value and file without
 * whitespace: apart from whitespace, the file differs only in escapes (a backslash and the characters after it, or a
 * doubled quote).
 */
export function offsetInText(text: string, scalar: Scalar, offset: number): number {
  const [start, end] = scalar.range ?? [0, 0];
  const value = typeof scalar.value === 'string' ? scalar.value : '';
  const style = scalar.type;
  const walk = { text, end, at: start, style: style ?? 'PLAIN' };
  if (style === 'BLOCK_LITERAL' || style === 'BLOCK_FOLDED') walk.at = endOfLine(text, start);
  else if (style === 'QUOTE_DOUBLE' || style === 'QUOTE_SINGLE') walk.at = start + 1;
  let position = walk.at;
  for (let index = 0; index < value.length; index += 1) {
    const character = value.charAt(index);
    if (/\s/.test(character)) continue;
    const from = skipBlanks(walk);
    if (index >= offset) return from;
    position = from + sourceLength(walk, from, character);
    walk.at = position;
  }
  return Math.min(position, end);
}

interface Walk {
  readonly text: string;
  readonly end: number;
  readonly style: string;
  at: number;
}

function endOfLine(text: string, from: number): number {
  const newline = text.indexOf('\n', from);
  return newline < 0 ? text.length : newline + 1;
}

const ESCAPED_BLANK = /^\\(?:[nrtvfe0 _NLP\t]|\r?\n)/;

function skipBlanks(walk: Walk): number {
  let at = walk.at;
  while (at < walk.end) {
    const escape = walk.style === 'QUOTE_DOUBLE' ? ESCAPED_BLANK.exec(walk.text.slice(at, at + 3)) : null;
    if (escape !== null) at += escape[0].length;
    else if (/\s/.test(walk.text.charAt(at))) at += 1;
    else break;
  }
  return at;
}

const ESCAPE_LENGTHS: Readonly<Record<string, number>> = { x: 4, u: 6, U: 10 };

/** Returns how many characters of the file represent one character of the value. */
function sourceLength({ text, style }: Walk, from: number, character: string): number {
  if (style === 'QUOTE_SINGLE') return character === "'" ? 2 : 1;
  if (style !== 'QUOTE_DOUBLE' || text.charAt(from) !== '\\') return 1;
  return ESCAPE_LENGTHS[text.charAt(from + 1)] ?? 2;
}
