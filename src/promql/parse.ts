import type { SyntaxNode, Tree } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';
import { findQueryLimit, type QueryLimit } from './query-limits.js';
import { splitSegments } from './segments.js';
import { placeVariables } from './variables.js';

export interface UnknownFunction {
  readonly name: string;
  readonly offset: number;
}

export interface ParsedQuery {
  /**
   * The query with variables and unknown functions replaced by valid syntax of the same length, so that offsets hold.
   */
  readonly text: string;
  readonly tree: Tree;
  readonly unknownFunctions: readonly UnknownFunction[];
  /** The first remaining error; null if the text parses. */
  readonly errorNode: SyntaxNode | null;
  /** The limit that the query exceeds: `tree` is that of an empty text then. Null: none. */
  readonly limit: QueryLimit | null;
}

/** The maximum number of unknown functions per query: each of them takes another parse. */
const MAX_UNKNOWN_FUNCTIONS = 20;

/** Half of a surrogate pair, for which the parser needs 5 us: an error outside of strings, like `?`. */
const SURROGATE = /[\ud800-\udfff]/g;

/** The grammar looks names up in a plain object, in lower case, and would read inherited ones as keywords. */
const INHERITED = /(?<![\w:])(?:constructor|__proto__)(?![\w:])/gi;

const NAME_CHARACTER = /[\w:]/;
const TOKEN = /[A-Za-z_:][\w:]*|\S/g;

/** The number of parsed queries that are kept, and the length of the longest. */
const MAX_KEPT = 200;
const MAX_KEPT_LENGTH = 10_000;
const kept = new Map<string, ParsedQuery>();

/**
 * Returns the syntax tree of a query, which may contain variables and functions of other servers. Never fails. Keeps
 * the last 200: documents share queries, and each one is analyzed for errors, names and ranges.
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

/** Returns the text for the parser, with the same tokens at the same offsets. */
function parsable(text: string): string {
  return text.replaceAll(SURROGATE, '?').replaceAll(INHERITED, (name) => 'x'.repeat(name.length));
}

/** Replaces `$window` with a duration where one is expected, and with a string literal elsewhere in the code. */
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

/**
 * Returns a function name of this length that the grammar accepts with any operands; with one letter only a sign fits.
 */
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

/** Returns a name followed by `(` where the grammar did not expect it. */
function unknownFunctionAt(text: string, error: SyntaxNode): string | null {
  if (!/^\s*\(/.test(text.slice(error.from))) return null;
  const before = text.slice(0, error.from).trimEnd();
  let from = before.length;
  while (from > 0 && NAME_CHARACTER.test(before.charAt(from - 1))) from -= 1;
  while (/\d/.test(before.charAt(from))) from += 1;
  return from === before.length ? null : before.slice(from);
}

/** Returns the offsets of the calls of a function. */
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
