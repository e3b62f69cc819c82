import type { SyntaxNode } from '@lezer/common';
import {
  NEEDS_METRICSQL,
  firstMetricsql,
  isMetricsqlFunction,
  rewriteMetricsql,
  WITH_TEMPLATE,
} from './metricsql.js';
import { parseQuery, type ParsedQuery } from './parse.js';
import { findQueryLimit } from './query-limits.js';
import { newerLiterals } from './ranges.js';
import { splitSegments } from './segments.js';

/**
 * A problem of a query. An `error` is invalid for every server. A `warning` may be valid for a newer or older
 * Prometheus, or for VictoriaMetrics. `offset` is in UTF-16 code units from the start of the query.
 */
export interface SyntaxProblem {
  readonly severity: 'error' | 'warning';
  readonly offset: number;
  readonly message: string;
  /** Set if the query exceeds a limit of promscaler's parser. A server may accept the query. */
  readonly isLimit?: true;
  /** The name of a function that neither PromQL nor MetricsQL has. */
  readonly unknownFunction?: string;
}

interface SyntaxOptions {
  /** Whether the server is VictoriaMetrics. Syntax that may be MetricsQL then causes only a warning. */
  readonly isMetricsql?: boolean;
}

const UNCHECKED = 'promscaler cannot check this query';

const CLOSER: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

const METRICSQL_WORDS: ReadonlySet<string> = new Set([
  'keep_metric_names',
  'limit',
  'default',
  'if',
  'ifnot',
]);

const NUMBER_SUFFIX = /^[kmgt]i?b?$/i;
/** A duration. The unit `i` is the step of MetricsQL. */
const DURATION = /^(?:\d[\d.]*(?:ms|[smhdwyi]))+$/i;
const NEXT_TOKEN = /^(?:[A-Za-z_:][A-Za-z0-9_:.]*|[\d.]+[A-Za-z0-9_.]*|[=!]~|[=!<>]=|\S)/;

/**
 * Checks the grammar of a PromQL query with `$name` variables. Regular expressions, and whether labels match, are
 * checked only by the server. Reports one problem per mistake.
 */
export function checkSyntax(query: string, options: SyntaxOptions = {}): readonly SyntaxProblem[] {
  const limit = findQueryLimit(query);
  if (limit !== null) return [{ severity: 'error', ...limit, isLimit: true }];
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
  return problemsOf(query, parseQuery(query), options);
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
      if (opener === undefined) return error(offset, `unmatched "${bracket}"`);
      const expected = CLOSER[opener.bracket] ?? '';
      if (expected !== bracket) return error(offset, `unexpected "${bracket}", expected "${expected}"`);
    }
  }
  const last = open.pop();
  return last === undefined ? null : error(last.offset, `"${last.bracket}" is never closed`);
}

function problemsOf(
  query: string,
  parsed: ParsedQuery,
  { isMetricsql = false }: SyntaxOptions,
): readonly SyntaxProblem[] {
  const { unknownFunctions, errorNode, text } = parsed;
  const needs = isMetricsql ? UNCHECKED : NEEDS_METRICSQL;
  if (WITH_TEMPLATE.test(query)) {
    return [warning(query.search(/\S/), `a WITH template is MetricsQL: ${needs}`)];
  }
  const unknown = unknownFunctions.map(({ name, offset }): SyntaxProblem =>
    isMetricsqlFunction(name)
      ? warning(offset, `function "${name}" is MetricsQL: ${needs}`)
      : { ...warning(offset, `unknown function "${name}"`), unknownFunction: name },
  );
  if (errorNode === null) return [...unknown, ...(isMetricsql ? [] : checkLiterals(query))];
  const problem = asMetricsql(query, problemAt(query, text, errorNode), isMetricsql);
  return [...unknown.filter(({ offset }) => offset !== problem.offset), problem];
}

function checkLiterals(query: string): readonly SyntaxProblem[] {
  return newerLiterals(query).map(({ text, offset, write, isDuration }) =>
    warning(
      offset,
      `${text} ${isDuration ? 'has no unit' : 'is a duration used as a number'}: Prometheus before 2.54 rejects this. Write ${write}`,
    ),
  );
}

/**
 * Turns an error into a warning if the query may be valid MetricsQL, because only VictoriaMetrics can check MetricsQL.
 */
function asMetricsql(query: string, problem: SyntaxProblem, isMetricsql: boolean): SyntaxProblem {
  if (problem.severity === 'warning' && !isMetricsql) return problem;
  const rewritten = rewriteMetricsql(query);
  const metricsql =
    rewritten === null || parseQuery(rewritten).errorNode !== null ? null : firstMetricsql(query);
  if (metricsql !== null) {
    const { offset, word } = metricsql;
    const message = `${word === ',' ? 'a trailing comma' : `"${word}"`} is MetricsQL`;
    if (isMetricsql) return warning(offset, `${message}: ${UNCHECKED}`);
    return { ...problem, offset, message: `${message}: ${NEEDS_METRICSQL}` };
  }
  const token = NEXT_TOKEN.exec(query.slice(problem.offset))?.[0] ?? '';
  const isForeign = problem.message === `unexpected "${token}"` && /^[\w$,:([{"'`]/.test(token);
  if (isMetricsql && !isForeign)
    return {
      ...problem,
      message: problem.message.replace(NEEDS_METRICSQL, UNCHECKED),
    };
  if (!isMetricsql) return problem;
  return warning(
    problem.offset,
    `${problem.message}; the query may be valid MetricsQL, which promscaler cannot check`,
  );
}

function problemAt(query: string, text: string, node: SyntaxNode): SyntaxProblem {
  const offset = skipBlank(text, node.from);
  const token = NEXT_TOKEN.exec(query.slice(offset))?.[0] ?? '';
  const container = containerOf(node);
  if (token === '') return error(text.length, 'unexpected end of the query');
  if (container === 'matchers') return problemInMatchers(text, offset, token);
  if (METRICSQL_WORDS.has(token.toLowerCase())) {
    return warning(offset, `"${token}" is MetricsQL: ${NEEDS_METRICSQL}`);
  }
  if (/\d$/.test(text.slice(0, offset)) && NUMBER_SUFFIX.test(token)) {
    return warning(offset, `the unit "${token}" of a number is MetricsQL: ${NEEDS_METRICSQL}`);
  }
  if (container === 'range' && token !== ']') {
    let start = offset;
    while (/[\w.]/.test(text.charAt(start - 1))) start -= 1;
    const word = text.slice(start, offset) + token;
    if (/^\d/.test(word) && !DURATION.test(word))
      return error(start, `${word} is not a duration: the units are ms, s, m, h, d, w and y`);
    return warning(offset, `unknown duration: unexpected "${token}"`);
  }
  if (token === ']') return error(offset, 'the range between [ and ] is empty or incomplete');
  return error(offset, `unexpected "${token}"`);
}

function problemInMatchers(text: string, offset: number, token: string): SyntaxProblem {
  const before = text.slice(0, offset).trimEnd();
  if (/(?:^|\W)or$/i.test(before.slice(-3)) || token.toLowerCase() === 'or') {
    return warning(offset, `"or" between label matchers is MetricsQL: ${NEEDS_METRICSQL}`);
  }
  if (/^\w/.test(token) && /[^=!]=$|[=!]~$|!=$/.test(before.slice(-2))) {
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
