import type { SyntaxNode } from '@lezer/common';
import { parseQuery, type ParsedQuery } from './parse.js';
import { splitSegments } from './segments.js';

/**
 * What is wrong with a query. An `error` is wrong for every server; a `warning` is what a newer or older Prometheus,
 * or VictoriaMetrics, may know. `offset` counts UTF-16 units from the start of the query.
 */
export interface SyntaxProblem {
  readonly severity: 'error' | 'warning';
  readonly offset: number;
  readonly message: string;
}

const CLOSER: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/** Words of MetricsQL that PromQL does not have. */
const METRICSQL_WORDS: ReadonlySet<string> = new Set([
  'keep_metric_names',
  'limit',
  'default',
  'if',
  'ifnot',
]);

const WITH_TEMPLATE = /^\s*WITH\s*\(/i;
const NUMBER_SUFFIX = /^[kmgt]i?b?$/i;
const NEXT_TOKEN = /^(?:[A-Za-z_:][A-Za-z0-9_:.]*|[\d.]+[A-Za-z0-9_.]*|[=!]~|[=!<>]=|\S)/;

/**
 * The problems of a PromQL query, which may still hold `$name` variables; empty where it parses. Grammar only: types,
 * label joins and regular expressions are left to the server. One mistake gives one problem.
 */
export function checkSyntax(query: string): readonly SyntaxProblem[] {
  const segments = splitSegments(query);
  const isEmpty = segments.every(
    ({ kind, from, to }) => kind === 'comment' || (kind === 'code' && query.slice(from, to).trim() === ''),
  );
  if (isEmpty) return [{ severity: 'error', offset: 0, message: 'the query is empty' }];
  const open = segments.find(({ isClosed }) => !isClosed);
  if (open !== undefined) {
    return [{ severity: 'error', offset: open.from, message: 'this string literal has no closing quote' }];
  }
  const bracket = checkBrackets(query);
  if (bracket !== null) return [bracket];
  return problemsOf(query, parseQuery(query));
}

function checkBrackets(query: string): SyntaxProblem | null {
  const open: { readonly offset: number; readonly bracket: string }[] = [];
  for (const { kind, from, to } of splitSegments(query)) {
    if (kind !== 'code') continue;
    for (let offset = from; offset < to; offset += 1) {
      const bracket = query.charAt(offset);
      if ('([{'.includes(bracket)) open.push({ offset, bracket });
      if (!')]}'.includes(bracket)) continue;
      const opener = open.pop();
      if (opener === undefined) return error(offset, `"${bracket}" closes nothing`);
      const expected = CLOSER[opener.bracket] ?? '';
      if (expected !== bracket) return error(offset, `"${bracket}" stands where "${expected}" is expected`);
    }
  }
  const last = open.pop();
  return last === undefined ? null : error(last.offset, `"${last.bracket}" is never closed`);
}

function problemsOf(query: string, parsed: ParsedQuery): readonly SyntaxProblem[] {
  const { unknownFunctions, errorNode, text } = parsed;
  if (WITH_TEMPLATE.test(query)) {
    return [warning(query.search(/\S/), 'WITH templates of MetricsQL cannot be checked here')];
  }
  const unknown = unknownFunctions.map(({ name, offset }) => warning(offset, `unknown function "${name}"`));
  return errorNode === null ? unknown : [...unknown, problemAt(query, text, errorNode)];
}

function problemAt(query: string, text: string, node: SyntaxNode): SyntaxProblem {
  const offset = skipBlank(text, node.from);
  const token = NEXT_TOKEN.exec(query.slice(offset))?.[0] ?? '';
  const container = containerOf(node);
  if (token === '') return error(text.length, 'the query ends where more is expected');
  if (container === 'matchers') return problemInMatchers(text, offset, token);
  if (METRICSQL_WORDS.has(token.toLowerCase())) {
    return warning(offset, `"${token}" is MetricsQL: Prometheus does not know it`);
  }
  if (/\d$/.test(text.slice(0, offset)) && NUMBER_SUFFIX.test(token)) {
    return warning(offset, `the unit "${token}" of a number is MetricsQL: Prometheus does not know it`);
  }
  if (container === 'range' && token !== ']') {
    return warning(offset, `unknown duration: unexpected "${token}"`);
  }
  if (token === ']') return error(offset, 'the range between [ and ] is empty or incomplete');
  return error(offset, `unexpected "${token}"`);
}

function problemInMatchers(text: string, offset: number, token: string): SyntaxProblem {
  if (/\bor\s*$/i.test(text.slice(0, offset)) || token.toLowerCase() === 'or') {
    return warning(offset, '"or" between label matchers is MetricsQL: Prometheus does not know it');
  }
  if (/^\w/.test(token) && /(?:[^=!]=|=~|!=|!~)\s*$/.test(text.slice(0, offset))) {
    return error(offset, `unexpected "${token}": the value of a label matcher is a string in quotes`);
  }
  return error(offset, `unexpected "${token}" among the label matchers`);
}

function containerOf(node: SyntaxNode): 'matchers' | 'range' | null {
  for (let parent: SyntaxNode | null = node.parent; parent !== null; parent = parent.parent) {
    if (parent.name === 'LabelMatchers') return 'matchers';
    if (parent.name === 'MatrixSelector' || parent.name === 'SubqueryExpr') return 'range';
    if (parent.name === 'FunctionCallBody') return null;
  }
  return null;
}

/** The offset of the next token: blanks and comments lie between. */
function skipBlank(text: string, from: number): number {
  const blank = /^(?:\s|#[^\n]*)*/.exec(text.slice(from));
  return from + (blank?.[0].length ?? 0);
}

function error(offset: number, message: string): SyntaxProblem {
  return { severity: 'error', offset, message };
}

function warning(offset: number, message: string): SyntaxProblem {
  return { severity: 'warning', offset, message };
}
