import type { SyntaxNode, Tree } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';
import { findQueryLimit, type QueryLimit } from './query-limits.js';
import { splitSegments } from './segments.js';
import { placeVariables } from './variables.js';

/** A call of a function that the grammar does not know. */
export interface UnknownFunction {
  readonly name: string;
  readonly offset: number;
}

/** A query as the grammar sees it. */
export interface ParsedQuery {
  /** The query with variables and unknown functions replaced by known things of the same length: offsets hold. */
  readonly text: string;
  readonly tree: Tree;
  readonly unknownFunctions: readonly UnknownFunction[];
  /** The first mistake that is left; null where the text parses. */
  readonly errorNode: SyntaxNode | null;
  /** What the query has too much of to be parsed: `tree` is that of an empty text then. Null: nothing. */
  readonly limit: QueryLimit | null;
}

/** More unknown functions than this in one query are not looked for: each takes one more parse. */
const MAX_UNKNOWN_FUNCTIONS = 20;

/** Half a character beyond 16 bits, which the parser needs 5 us for: an error outside of strings, like `?`. */
const SURROGATE = /[\ud800-\udfff]/g;

/** Names that the grammar looks up in a plain object, in lower case: it takes what it inherits for a keyword. */
const INHERITED = /(?<![\w:])(?:constructor|__proto__)(?![\w:])/gi;

const NAME_CHARACTER = /[\w:]/;
const TOKEN = /[A-Za-z_:][\w:]*|\S/g;

/** The queries that were parsed last, and the longest that is kept. */
const MAX_KEPT = 200;
const MAX_KEPT_LENGTH = 10_000;
const kept = new Map<string, ParsedQuery>();

/**
 * The syntax tree of a query that may still hold variables and functions of another server. Never fails. The last 200
 * are kept: documents share their queries, and each is asked for its mistakes, its names and its ranges.
 */
export function parseQuery(query: string): ParsedQuery {
  const known = kept.get(query);
  if (known !== undefined) return known;
  const parsed = parseAnew(query);
  if (query.length > MAX_KEPT_LENGTH) return parsed;
  const oldest = kept.size < MAX_KEPT ? undefined : kept.keys().next().value;
  if (oldest !== undefined) kept.delete(oldest);
  kept.set(query, parsed);
  return parsed;
}

function parseAnew(query: string): ParsedQuery {
  const limit = findQueryLimit(query);
  if (limit !== null) {
    const tree = parser.parse('');
    return { text: query, tree, unknownFunctions: [], errorNode: firstError(tree), limit };
  }
  const unknownFunctions: UnknownFunction[] = [];
  let text = maskVariables(query);
  for (let parses = 0; ; parses += 1) {
    const tree = parser.parse(parsable(text));
    const errorNode = firstError(tree);
    const name = errorNode === null ? null : unknownFunctionAt(text, errorNode);
    if (name === null || parses >= MAX_UNKNOWN_FUNCTIONS) {
      unknownFunctions.sort((a, b) => a.offset - b.offset);
      return { text, tree, unknownFunctions, errorNode, limit: null };
    }
    for (const offset of callsOf(text, name)) {
      unknownFunctions.push({ name, offset });
      text = replaceAt(text, offset, knownFunction(name.length));
    }
  }
}

/** The text for the parser: with the same tokens at the same places. */
function parsable(text: string): string {
  return text.replaceAll(SURROGATE, '?').replaceAll(INHERITED, (name) => 'x'.repeat(name.length));
}

/** `$window` becomes a duration where one is expected, and a string literal elsewhere in the code. */
function maskVariables(query: string): string {
  let text = query;
  for (const { variables } of placeVariables(query)) {
    for (const { name, offset, place } of variables) {
      if (place === 'duration') text = replaceAt(text, offset, '1s'.padEnd(name.length + 1));
      else if (place === 'code') text = replaceAt(text, offset, `"${'x'.repeat(name.length - 1)}"`);
    }
  }
  return text;
}

function replaceAt(text: string, offset: number, replacement: string): string {
  return text.slice(0, offset) + replacement + text.slice(offset + replacement.length);
}

/** A function that takes anything, as far as the grammar goes; one letter leaves room for a sign only. */
function knownFunction(length: number): string {
  if (length >= 3) return 'abs'.padEnd(length);
  return length === 2 ? 'ln' : '-';
}

function firstError(tree: Tree): SyntaxNode | null {
  let first: SyntaxNode | null = null;
  tree.iterate({
    enter: (node) => {
      if (first === null && node.type.isError) first = node.node;
      return first === null;
    },
  });
  return first;
}

/** A name followed by `(` where the grammar did not expect it. */
function unknownFunctionAt(text: string, error: SyntaxNode): string | null {
  if (!/^\s*\(/.test(text.slice(error.from))) return null;
  const before = text.slice(0, error.from).trimEnd();
  let from = before.length;
  while (from > 0 && NAME_CHARACTER.test(before.charAt(from - 1))) from -= 1;
  while (/\d/.test(before.charAt(from))) from += 1;
  return from === before.length ? null : before.slice(from);
}

/** Where a function of that name is called. */
function callsOf(text: string, name: string): readonly number[] {
  const offsets: number[] = [];
  for (const { kind, from, to } of splitSegments(text)) {
    if (kind !== 'code') continue;
    let before: RegExpExecArray | null = null;
    for (const token of text.slice(from, to).matchAll(TOKEN)) {
      if (token[0] === '(' && before?.[0] === name) offsets.push(from + before.index);
      before = token;
    }
  }
  return offsets;
}
