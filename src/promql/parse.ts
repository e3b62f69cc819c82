import type { SyntaxNode, Tree } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';
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
}

/** More unknown functions than this in one query are not looked for. */
const MAX_UNKNOWN_FUNCTIONS = 50;

const CALLED_NAME = /([A-Za-z_:][A-Za-z0-9_:]*)\s*$/;

/** The queries that were parsed last, and the longest that is kept: a document may hold one of 1 MiB. */
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
  const unknownFunctions: UnknownFunction[] = [];
  let text = maskVariables(query);
  for (;;) {
    const tree = parser.parse(text);
    const errorNode = firstError(tree);
    const called = errorNode === null ? null : unknownFunctionAt(text, errorNode);
    if (called === null || unknownFunctions.length >= MAX_UNKNOWN_FUNCTIONS) {
      return { text, tree, unknownFunctions, errorNode };
    }
    unknownFunctions.push(called);
    text = replaceAt(text, called.offset, knownFunction(called.name.length));
  }
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
function unknownFunctionAt(text: string, error: SyntaxNode): UnknownFunction | null {
  const rest = text.slice(error.from);
  const gap = rest.length - rest.trimStart().length;
  if (rest.charAt(gap) !== '(') return null;
  const match = CALLED_NAME.exec(text.slice(0, error.from));
  return match === null ? null : { name: match[1] ?? '', offset: match.index };
}
