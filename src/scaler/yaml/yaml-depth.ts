import { Lexer } from 'yaml';

/** The lexer's marks for the start of a document, of a scalar and of an error in a flow: they are no text. */
const MARKS: ReadonlySet<string> = new Set(['\x02', '\x1f', '\x18']);
const BLOCK_SCALAR_HEADER = /^[|>][-+0-9]*$/;

/**
 * The deepest nesting of a YAML text, found without parsing it: a parser of nested text would fill the stack with a
 * document of some thousand levels before it could refuse it. A block counts for each column that it is indented to,
 * a flow collection for each bracket that is open; a list at the column of its key is one level deeper than counted.
 * Stops at the first place that is deeper than `limit`, and gives its offset; null: there is none.
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
    // What follows "- " or "? " in a line opens a block of its own.
    isFirst = newline >= 0 || (isBlank && isFirst) || token === '-' || token === '?';
  }
  return null;
}
