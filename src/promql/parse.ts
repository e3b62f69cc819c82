import type { SyntaxNode, Tree } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';
import { findQueryLimit, type QueryLimit } from './query-limits.js';
import { splitSegments } from './segments.js';
import { variableSegments } from './variables.js';

interface UnknownFunction {
  readonly name: string;
  readonly offset: number;
}

export interface ParsedQuery {
  /**
   * The query, with variables and unknown functions replaced by valid syntax of the same length, which keeps offsets.
   */
  readonly text: string;
  readonly tree: Tree;
  readonly unknownFunctions: readonly UnknownFunction[];
  readonly errorNode: SyntaxNode | null;
  /** The limit that the query exceeds; `tree` is then empty. Null: none. */
  readonly limit: QueryLimit | null;
}

/** Each unknown function requires another parse. */
const MAX_UNKNOWN_FUNCTIONS = 20;

/** The parser needs 5 us for half of a surrogate pair. Outside of strings it is an error, as is `?`. */
const SURROGATE = /[\ud800-\udfff]/g;

/**
 * The grammar looks up lower-case names in a plain object. The object inherits these names, so the grammar would read
 * them as keywords.
 */
const INHERITED = /(?<![\w:])(?:constructor|__proto__)(?![\w:])/gi;

const NAME_CHARACTER = /[\w:]/;
const TOKEN = /[A-Za-z_:][\w:]*|\S/g;

/**
 * Parses a query that may contain variables and functions of other servers. Never fails. Caches the last 200 queries,
 * because documents share queries, and each query is analyzed for errors, names and ranges.
 */
export const parseQuery = rememberByQuery(parseUncached, 200);

function parseUncached(query: string): ParsedQuery {
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

/** Keeps all tokens and offsets. */
function parsable(text: string): string {
  return text.replaceAll(SURROGATE, '?').replaceAll(INHERITED, (name) => 'x'.repeat(name.length));
}

/** Replaces variables with a duration where one is expected, and with a string literal elsewhere in the code. */
function maskVariables(query: string): string {
  let text = query;
  for (const { variables } of variableSegments(query)) {
    for (const { name, offset, context } of variables) {
      if (context === 'duration') text = replaceAt(text, offset, '1s'.padEnd(name.length + 1));
      else if (context === 'code') text = replaceAt(text, offset, `"${'x'.repeat(name.length - 1)}"`);
    }
  }
  return text;
}

function replaceAt(text: string, offset: number, replacement: string): string {
  return text.slice(0, offset) + replacement + text.slice(offset + replacement.length);
}

/** Returns a function name of this length that the grammar accepts with any operands. For length 1, returns a sign. */
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

/** Returns the name before an unexpected `(`, or null. */
function unknownFunctionAt(text: string, error: SyntaxNode): string | null {
  if (!/^\s*\(/.test(text.slice(error.from))) return null;
  const before = text.slice(0, error.from).trimEnd();
  let from = before.length;
  while (from > 0 && NAME_CHARACTER.test(before.charAt(from - 1))) from -= 1;
  while (/\d/.test(before.charAt(from))) from += 1;
  return from === before.length ? null : before.slice(from);
}

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

/** UTF-16 code units. The result for a longer query is not cached. */
const MAX_KEPT_LENGTH = 10_000;

/** Returns `build` with a cache of its results for the last `most` queries. `build` must depend only on the query. */
export function rememberByQuery<T>(build: (query: string) => T, most: number): (query: string) => T {
  const kept = new Map<string, T>();
  return (query) => {
    const known = kept.get(query);
    if (known !== undefined) return known;
    const built = build(query);
    if (query.length > MAX_KEPT_LENGTH) return built;
    const oldest = kept.size < most ? undefined : kept.keys().next().value;
    if (oldest !== undefined) kept.delete(oldest);
    kept.set(query, built);
    return built;
  };
}
