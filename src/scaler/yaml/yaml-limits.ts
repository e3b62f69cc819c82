import { Lexer, type Document, isScalar, visit } from 'yaml';
import { MAX_DEPTH } from '../plain-json.js';

interface YamlLimit {
  readonly code: 'too-deep' | 'yaml-size';
  readonly message: string;
  /** The offset of the first token above the limit, in UTF-16 code units. */
  readonly offset: number;
}

/**
 * Maximum number of tokens in a document, including whitespace and line breaks. A document with every field has about
 * 500. For each token, the parser needs 2 us (10 us before it is compiled) and 500 bytes of memory.
 */
export const MAX_TOKENS = 20_000;

const START_OF_SCALAR = '\x1f';
/**
 * Marks that the lexer inserts between tokens: the start of a document, the start of a scalar, and an error in a flow
 * collection.
 */
const MARKS: ReadonlySet<string> = new Set(['\x02', START_OF_SCALAR, '\x18']);
const BLOCK_SCALAR_HEADER = /^[|>][-+0-9]*$/;
const BLANK = /^\s*$/;

/**
 * Returns the first limit that a document exceeds; null: none. Only splits the YAML into tokens, because parsing a
 * document of several thousand levels would overflow the stack. The depth is the number of indentation levels plus the
 * number of open brackets. A list that is not indented below its key is one level deeper.
 */
export function findYamlLimit(text: string, mostTokens: number = MAX_TOKENS): YamlLimit | null {
  if (isWithinLimits(text, mostTokens)) return null;
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
    // After "- " or "? ", a block may begin in the rest of the line.
    isFirst = newline >= 0 || (isBlank && isFirst) || token === '-' || token === '?';
  }
  return null;
}

const OPENING = /[{[]/g;
/** The signs `-` and `?`, unless they are part of a word. */
const BLOCK_INDICATOR = /[-?](?![A-Za-z0-9])/g;
const INDENTATION = /^[^\S\n]*/gm;

/**
 * Returns whether a string is so short and flat that it cannot exceed a limit. Used for speed: most documents are that
 * short, and splitting a document into tokens takes a sixth of its reading time. Each token except an empty scalar has
 * a character. Each level needs a bracket, `-`, `?`, or its own indentation.
 */
function isWithinLimits(text: string, mostTokens: number): boolean {
  if (2 * text.length >= mostTokens) return false;
  const indicators = countOf(text, OPENING) + countOf(text, BLOCK_INDICATOR);
  if (indicators >= MAX_DEPTH) return false;
  let widest = 0;
  for (const [indentation] of text.matchAll(INDENTATION)) widest = Math.max(widest, indentation.length);
  return indicators + widest + 1 <= MAX_DEPTH;
}

function countOf(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

function tooDeep(offset: number): YamlLimit {
  return { code: 'too-deep', message: `the document is nested deeper than ${MAX_DEPTH} levels`, offset };
}

function tooLong(offset: number, mostTokens: number): YamlLimit {
  const message = `a document has more than ${mostTokens} tokens (words, signs, blanks and line ends)`;
  return { code: 'yaml-size', message, offset };
}

/** Limits the keys of an object: more than any document needs, and few enough for a fast linear search. */
export const MAX_KEYS = 1000;

interface KeyProblem {
  readonly kind: 'duplicate' | 'too-many';
  readonly message: string;
  readonly offset: number;
}

/**
 * Finds duplicate keys, and objects with more than `MAX_KEYS` keys, in one pass. The parser's own check is turned off,
 * because it compares each key with all others, which takes minutes for 60,000 keys.
 */
export function findKeyProblems(document: Document): readonly KeyProblem[] {
  const problems: KeyProblem[] = [];
  visit(document, {
    Map: (_key, map) => {
      if (map.items.length > MAX_KEYS) {
        const message = `an object has ${map.items.length} keys, must have at most ${MAX_KEYS}`;
        problems.push({ kind: 'too-many', message, offset: map.range?.[0] ?? 0 });
        return visit.SKIP;
      }
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) {
          const message = 'this key appears twice in the same object';
          problems.push({ kind: 'duplicate', message, offset: key.range?.[0] ?? 0 });
        }
        seen.add(key.value);
      }
      return undefined;
    },
  });
  return problems;
}
