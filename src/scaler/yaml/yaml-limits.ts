import { Lexer } from 'yaml';
import { MAX_DEPTH } from '../plain-json.js';

/** A limit that a YAML text is past. */
export interface YamlLimit {
  readonly code: 'too-deep' | 'yaml-size';
  readonly message: string;
  /** Of the first token that is past it, in UTF-16 units. */
  readonly offset: number;
}

/**
 * The most tokens of one document, blanks and line ends among them; a document with every field has some 500. The
 * parser takes 2 us and 500 bytes of memory for each, 10 us before it is compiled.
 */
export const MAX_TOKENS = 20_000;

const START_OF_SCALAR = '\x1f';
/** The lexer's marks for the start of a document, of a scalar and of an error in a flow: they are no text. */
const MARKS: ReadonlySet<string> = new Set(['\x02', START_OF_SCALAR, '\x18']);
const BLOCK_SCALAR_HEADER = /^[|>][-+0-9]*$/;
const BLANK = /^\s*$/;

/**
 * The first place where a document of a YAML text is nested deeper than 64 levels or has more tokens than are parsed;
 * null: there is none. Found without parsing: a parser of nested text would fill the stack with a document of some
 * thousand levels before it could refuse it. A block counts for each column that it is indented to, a flow collection
 * for each bracket that is open in its document; a list at the column of its key is one level deeper than counted.
 */
export function findYamlLimit(text: string, mostTokens: number = MAX_TOKENS): YamlLimit | null {
  const columns: number[] = [];
  let flow = 0;
  let offset = 0;
  let column = 0;
  let tokens = 0;
  let isFirst = true;
  let blockScalar: 'none' | 'header' | 'text' = 'none';
  for (const token of new Lexer().lex(text)) {
    if (MARKS.has(token)) {
      if (token === START_OF_SCALAR && blockScalar === 'header') blockScalar = 'text';
      continue;
    }
    if (column === 0 && (token === '---' || token === '...')) {
      tokens = 0;
      flow = 0;
    }
    tokens += 1;
    if (tokens > mostTokens) return tooLong(offset, mostTokens);
    if (token === '{' || token === '[') flow += 1;
    else if ((token === '}' || token === ']') && flow > 0) flow -= 1;
    else if (flow === 0 && BLOCK_SCALAR_HEADER.test(token)) blockScalar = 'header';
    const isBlank = BLANK.test(token) || token.startsWith('#');
    if (flow === 0 && isFirst && !isBlank && blockScalar !== 'text') {
      while ((columns.at(-1) ?? -1) >= column) columns.pop();
      columns.push(column);
    }
    if (columns.length + flow > MAX_DEPTH) return tooDeep(offset);
    if (blockScalar === 'text') blockScalar = 'none';
    const newline = token.lastIndexOf('\n');
    column = newline < 0 ? column + token.length : token.length - newline - 1;
    offset += token.length;
    // What follows "- " or "? " in a line opens a block of its own.
    isFirst = newline >= 0 || (isBlank && isFirst) || token === '-' || token === '?';
  }
  return null;
}

function tooDeep(offset: number): YamlLimit {
  return { code: 'too-deep', message: `nested deeper than ${MAX_DEPTH} levels`, offset };
}

function tooLong(offset: number, mostTokens: number): YamlLimit {
  const message = `a document has more than ${mostTokens} tokens (words, signs, blanks and line ends)`;
  return { code: 'yaml-size', message, offset };
}
