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
   * The query in which variables and unknown functions are replaced by valid syntax of the same length, so that offsets
   * stay valid.
   */
  readonly text: string;
  readonly tree: Tree;
  readonly unknownFunctions: readonly UnknownFunction[];
  readonly errorNode: SyntaxNode | null;
  /** The limit that the query exceeds, in which case `tree` is empty; null: none. */
  readonly limit: QueryLimit | null;
}

/** Maximum number of different unknown functions that are replaced: each one requires another parse. */
const MAX_UNKNOWN_FUNCTIONS = 20;

/**
 * Halves of surrogate pairs, and U+FEFF. The parser needs 5 to 15 us for each, so it gets `?` instead, which is also an
 * error outside of strings.
 */
const SLOW_CHARACTER = /[\ud800-\udfff\ufeff]/g;

/**
 * Names that the grammar reads as keywords, because it looks up names in a plain object, which inherits these
 * properties. These names are replaced.
 */
const INHERITED = /(?<![\w:])(?:constructor|__proto__)(?![\w:])/gi;

const NAME_CHARACTER = /[\w:]/;
const TOKEN = /[A-Za-z_:][\w:]*|\S/g;

/**
 * Parses a query that may contain variables and functions of other servers. Never fails. The last 200 results are
 * cached, because documents share queries, and each query is analyzed for errors, names and ranges.
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

/** Replaces what the parser cannot read with other characters. Tokens and offsets are unchanged. */
function parsable(text: string): string {
  return text.replaceAll(SLOW_CHARACTER, '?').replaceAll(INHERITED, (name) => 'x'.repeat(name.length));
}

/**
 * Replaces a variable with a duration where a duration is expected, and with a string literal anywhere else outside of
 * strings.
 */
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

/**
 * Returns the name of a function that the grammar accepts with any operands, padded with spaces to this length. No
 * function has a name of length 1, so a minus sign is returned.
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

/** Returns the name before a `(` that the parser did not expect; null: the error has another cause. */
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

/** Longest query whose result is cached, in UTF-16 code units. */
const MAX_KEPT_LENGTH = 10_000;

/** Returns `build` with a cache for the last `most` queries. The result of `build` must depend only on the query. */
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
