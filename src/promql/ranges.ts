import type { SyntaxNode } from '@lezer/common';
import { readExpressions } from './expressions.js';
import { parseQuery } from './parse.js';
import { splitSegments } from './segments.js';
import { readSelector, type VectorSelector } from './vector-selectors.js';

/** The default of `--query.lookback-delta` in Prometheus. */
const LOOKBACK_SECONDS = 300;

const UNIT_SECONDS: Readonly<Record<string, number>> = {
  ms: 0.001,
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
  w: 604_800,
  y: 31_536_000,
};

/** The largest range of a query in seconds, for three treatments of selectors without a range; 0: there is no range. */
interface Ranges {
  readonly written: number;
  readonly withLookback: number;
  /** A selector without a range counts as 300 s if it may select a recording rule: see `largestKnownRangeSeconds`. */
  readonly withUnknown: number;
}

/**
 * Returns the largest range in a query in seconds. Ranges are `[5m]` in `x[5m]` and `[1h:1m]` in a subquery; the range
 * of a selector without a range is 300 s. `offset` is ignored, and nested ranges are not added up. A range that is
 * unknown (`step()`, a variable, a unit of another server) counts as at least 300. 0: the query has no selector.
 */
export function largestRangeSeconds(query: string): number {
  return rangesOf(query).withLookback;
}

/** Returns the same as `largestRangeSeconds`, except that a selector without a range counts as 0. */
export function largestWrittenRangeSeconds(query: string): number {
  return rangesOf(query).written;
}

/**
 * Returns the same as `largestRangeSeconds`, except that a selector without a range counts as 0 unless it may select a
 * recording rule, which hides a range. A selector may select a recording rule if its metric name contains a colon, or
 * if it has no metric name.
 */
export function largestKnownRangeSeconds(query: string): number {
  return rangesOf(query).withUnknown;
}

/** A selector with the time range from which a query reads its samples. */
export interface SelectedRange {
  readonly selector: VectorSelector;
  /**
   * The range of the selector, otherwise the range of the innermost subquery around the selector; 0: there is neither.
   */
  readonly rangeSeconds: number;
  /** The sum of all offsets of the selector and of the expressions around it; may be negative. */
  readonly offsetSeconds: number;
}

/**
 * Returns each distinct selector of a query without variables, with its range and offset. Omits selectors at a fixed
 * time (`@`), and those with a duration that only the server knows. Empty: the query does not parse.
 */
export function selectedRanges(query: string): readonly SelectedRange[] {
  const { text, tree, errorNode } = parseQuery(query);
  if (errorNode !== null) return [];
  const found = new Map<string, SelectedRange>();
  tree.iterate({
    enter: ({ node }) => {
      if (node.name !== 'VectorSelector') return;
      const times = timesAround(text, node);
      if (times === null) return;
      const { rangeSeconds, offsetSeconds } = times;
      const selector = readSelector(query, node);
      found.set(`${selector.text} ${rangeSeconds} ${offsetSeconds}`, {
        selector,
        rangeSeconds,
        offsetSeconds,
      });
    },
  });
  return [...found.values()];
}

function timesAround(
  text: string,
  selector: SyntaxNode,
): { readonly rangeSeconds: number; readonly offsetSeconds: number } | null {
  let rangeSeconds = 0;
  let offsetSeconds = 0;
  for (let node = selector.parent; node !== null; node = node.parent) {
    if (node.name === 'StepInvariantExpr') return null;
    if (!['MatrixSelector', 'SubqueryExpr', 'OffsetExpr'].includes(node.name)) continue;
    const duration = node.getChild('DurationExpr') ?? node.getChild('OffsetDurationExpr');
    const seconds = duration === null ? null : durationSeconds(text, duration);
    if (seconds === null) return null;
    if (node.name === 'OffsetExpr') offsetSeconds += seconds;
    else if (rangeSeconds === 0) rangeSeconds = seconds;
  }
  return { rangeSeconds, offsetSeconds };
}

/** A literal that Prometheus before 2.54 rejects, and a literal that it accepts. */
export interface NewerLiteral {
  /** The literal, with the brackets of a range. */
  readonly text: string;
  /** UTF-16 code units from the start of the query. */
  readonly offset: number;
  readonly write: string;
  /** True: a number where a duration is expected. False: a duration where a number is expected. */
  readonly isDuration: boolean;
}

/** Returns durations without a unit (`x[30]`) and numbers with one (`x > 5m`), in the order of the query. */
export function newerLiterals(query: string): readonly NewerLiteral[] {
  const { text, tree, errorNode } = parseQuery(query);
  if (errorNode !== null) return [];
  const found: NewerLiteral[] = [];
  tree.iterate({
    enter: ({ node }) => {
      const isDuration = node.name === 'NumberDurationLiteralInDurationContext';
      // Literals in calculations with durations are not reported: only newer servers calculate with durations, and they
      // accept every literal.
      if (!isDuration && node.name !== 'NumberDurationLiteral') return;
      if (isDuration && isOperand(node)) return;
      const literal = text.slice(node.from, node.to);
      const isNumber = !Number.isNaN(Number(literal.replaceAll('_', '')));
      const seconds = literalSeconds(literal);
      if (seconds === null || isNumber !== isDuration) return;
      const isWhole = text.charAt(node.from - 1) === '[' && text.charAt(node.to) === ']';
      const [open, close] = isDuration && isWhole ? ['[', ']'] : ['', ''];
      found.push({
        text: `${open}${literal}${close}`,
        offset: node.from,
        write: `${open}${isDuration ? inUnits(seconds) : seconds}${close}`,
        isDuration,
      });
    },
  });
  return found;
}

function isOperand({ parent }: SyntaxNode): boolean {
  const outer = parent?.parent?.name;
  const isNegated = parent?.parent?.getChild('UnaryOp') !== null;
  return outer === 'DurationExpr' || (outer === 'OffsetDurationExpr' && !isNegated);
}

function inUnits(seconds: number): string {
  return Number.isInteger(seconds) ? `${seconds}s` : `${Math.round(seconds * 1000)}ms`;
}

const RATES: ReadonlySet<string> = new Set(['rate', 'increase', 'delta', 'sum_over_time', 'count_over_time']);

/**
 * Returns whether a query divides by the length of a window or adds up the samples in it. The value of a series that is
 * younger than the window is then too low.
 */
export function isRate(query: string): boolean {
  const expressions = readExpressions(query) ?? [];
  return expressions.some((one) => one.form === 'call' && RATES.has(one.name));
}

const DIFFERENCES: ReadonlySet<string> = new Set(['rate', 'increase', 'delta']);

/**
 * Returns whether a query computes the difference between the last and the first sample of a window. If a series is
 * younger than the window, its first sample is not from the start of the window.
 */
export function isDifference(query: string): boolean {
  const expressions = readExpressions(query) ?? [];
  return expressions.some((one) => one.form === 'call' && DIFFERENCES.has(one.name));
}

function rangesOf(whole: string): Ranges {
  const query = withoutStrings(whole);
  const { text, tree, errorNode } = parseQuery(query);
  let written = 0;
  let withLookback = errorNode === null ? 0 : LOOKBACK_SECONDS;
  let withUnknown = withLookback;
  tree.iterate({
    enter: ({ node }) => {
      if (node.name === 'MatrixSelector' || node.name === 'SubqueryExpr') {
        const range = node.getChild('DurationExpr');
        const isVariable = range !== null && query.charAt(range.from) === '$';
        const seconds = range === null || isVariable ? null : durationSeconds(text, range);
        written = Math.max(written, seconds ?? LOOKBACK_SECONDS);
      }
      if (node.name === 'VectorSelector' && node.parent?.name !== 'MatrixSelector') {
        withLookback = LOOKBACK_SECONDS;
        const name = node.getChild('Identifier');
        const mayBeRule = name === null || text.slice(name.from, name.to).includes(':');
        if (mayBeRule) withUnknown = LOOKBACK_SECONDS;
      }
    },
  });
  return {
    written,
    withLookback: Math.max(written, withLookback),
    withUnknown: Math.max(written, withUnknown),
  };
}

/**
 * Longest query whose strings are emptied, in UTF-16 code units. The strings of a longer query could decide whether it
 * exceeds a limit.
 */
const MAX_EMPTIED_LENGTH = 10_000;
/** Strings with these characters are not emptied: an escape may be invalid, and the number of variables is limited. */
const SPECIAL = /[\\$\n]/;

/**
 * Empties the strings of a query, because its ranges do not depend on them. Queries of thousands of scalers that differ
 * only in strings are then parsed once.
 */
function withoutStrings(query: string): string {
  if (query.length > MAX_EMPTIED_LENGTH) return query;
  let text = '';
  for (const { kind, from, to, quote, isClosed } of splitSegments(query)) {
    const part = query.slice(from, to);
    text += kind === 'string' && isClosed && !SPECIAL.test(part) ? `${quote}${quote}` : part;
  }
  return text;
}

/** Returns the value of a duration; null: only the server knows it. */
function durationSeconds(text: string, node: SyntaxNode): number | null {
  const literal = node.getChild('NumberDurationLiteralInDurationContext');
  if (literal !== null) return literalSeconds(text.slice(literal.from, literal.to));
  const nodes = [...node.getChildren('DurationExpr'), ...node.getChildren('OffsetDurationExpr')];
  const operands = nodes.map((operand) => durationSeconds(text, operand));
  const [first, second] = operands;
  if (first === undefined || first === null || second === null) return null;
  if (second === undefined) return isNegated(text, node) ? -first : first;
  return combine(operatorOf(node), first, second);
}

function isNegated(text: string, node: SyntaxNode): boolean {
  const sign = node.getChild('UnaryOp');
  return sign !== null && text.slice(sign.from, sign.to) === '-';
}

function operatorOf(node: SyntaxNode): string {
  const names = ['Pow', 'Mul', 'Div', 'Mod', 'Add', 'Sub', 'DurationMinOf', 'DurationMaxOf'];
  return names.find((name) => node.getChild(name) !== null) ?? '';
}

function combine(operator: string, a: number, b: number): number | null {
  switch (operator) {
    case 'Pow':
      return finite(a ** b);
    case 'Mul':
      return finite(a * b);
    case 'Div':
      return finite(a / b);
    case 'Mod':
      return finite(a % b);
    case 'Add':
      return a + b;
    case 'Sub':
      return a - b;
    case 'DurationMinOf':
      return Math.min(a, b);
    case 'DurationMaxOf':
      return Math.max(a, b);
    default:
      return null;
  }
}

function finite(seconds: number): number | null {
  return Number.isFinite(seconds) ? seconds : null;
}

/** Returns the seconds of a literal: `5m`, `1h30m`, `300`, `0x1f`. */
function literalSeconds(literal: string): number | null {
  const plain = Number(literal.replaceAll('_', ''));
  if (literal !== '' && !Number.isNaN(plain)) return finite(plain);
  let seconds = 0;
  for (const match of literal.matchAll(/(?<!\d)(\d+)(ms|[smhdwy])/g)) {
    seconds += Number(match[1]) * (UNIT_SECONDS[match[2] ?? ''] ?? 0);
  }
  return seconds > 0 ? seconds : null;
}
