import { Lexer } from 'yaml';

/** Marks of the lexer for the start of a document, of a scalar, and of an error in a flow. They are not in the text. */
const MARKS: ReadonlySet<string> = new Set(['\x02', '\x1f', '\x18']);
const BLOCK_SCALAR_HEADER = /^[|>][-+0-9]*$/;

/**
 * Returns the offset of the first place nested deeper than `limit`, or null. Does not parse: a parser would overflow
 * the stack with a document of some thousand levels. A block counts for each column of indentation, a flow collection
 * for each open bracket; a list at the column of its key is one level deeper than counted.
 */
export function findTooDeep(text: string, limit: number): number | null {
  const columns: number[] = [];
  let flow = 0;
  let offset = 0;
  let column = 0;
  let isFirst = true;
  let blockScalar: 'none' | 'header' | 'text' = 'none';
  for (const token of new Lexer().lex(text)) {
    if (MARKS.has(token)) {
      if (token === '\x1f' && blockScalar === 'header') blockScalar = 'text';
      continue;
    }
    if (token === '{' || token === '[') flow += 1;
    else if ((token === '}' || token === ']') && flow > 0) flow -= 1;
    else if (flow === 0 && BLOCK_SCALAR_HEADER.test(token)) blockScalar = 'header';
    const isBlank = /^\s*$/.test(token) || token.startsWith('#');
    if (flow === 0 && isFirst && !isBlank && blockScalar !== 'text') {
      while ((columns.at(-1) ?? -1) >= column) columns.pop();
      columns.push(column);
    }
    if (columns.length + flow > limit) return offset;
    if (blockScalar === 'text') blockScalar = 'none';
    const newline = token.lastIndexOf('\n');
    column = newline < 0 ? column + token.length : token.length - newline - 1;
    offset += token.length;
    // What follows "- " or "? " in a line starts a block.
    isFirst = newline >= 0 || (isBlank && isFirst) || token === '-' || token === '?';
  }
  return null;
}
