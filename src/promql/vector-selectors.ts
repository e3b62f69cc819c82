import type { SyntaxNode } from '@lezer/common';
import { parseQuery } from './parse.js';
import { readStringLiteral, stringLiteral } from './quoting.js';

export interface LabelMatcher {
  readonly label: string;
  readonly operator: string;
  /** The content of the string literal, without escapes. */
  readonly value: string;
  /** The matcher as in the query, such as `namespace="shop"`. */
  readonly text: string;
}

/** A matcher of a selector. `offset` is in UTF-16 code units from the start of the query. */
export interface SelectorMatcher extends LabelMatcher {
  readonly offset: number;
}

/** A selector such as `name{a="b"}` or `{"my.name", a="b"}`, without range, offset and `@`. */
export interface VectorSelector {
  readonly text: string;
  /** The name before the braces, or the quoted name within them; null: the selector has no name. */
  readonly metric: string | null;
  readonly matchers: readonly LabelMatcher[];
  /** The range as in the query, such as `5m`; null: the selector has none. */
  readonly range: string | null;
}

const PLAIN_METRIC = /^[A-Za-z_:][A-Za-z0-9_:]*$/;
const PLAIN_LABEL = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Returns each distinct pair of selector and range, in order of appearance. The query must have no variables. */
export function vectorSelectors(query: string): readonly VectorSelector[] {
  const { tree } = parseQuery(query);
  const found = new Map<string, VectorSelector>();
  tree.iterate({
    enter: ({ node }) => {
      if (node.name !== 'VectorSelector') return;
      const { matchers, ...rest } = readSelector(query, node);
      const selector = {
        ...rest,
        matchers: matchers.map(({ label, operator, value, text }) => ({ label, operator, value, text })),
      };
      found.set(`${selector.text}[${selector.range ?? ''}]`, selector);
    },
  });
  return [...found.values()];
}

/** Returns the selector with one more matcher, such as `pod="web-0"`. */
export function withMatcher({ metric, matchers }: VectorSelector, matcher: string): string {
  return selectorText(metric, [...matchers.map(({ text }) => text), matcher]);
}

export function hasMatcher({ matchers }: VectorSelector, label: string): boolean {
  return matchers.some((matcher) => matcher.label === label);
}

export function withoutMatcher(selector: VectorSelector, left: LabelMatcher): string {
  const rest = selector.matchers.filter((matcher) => matcher !== left).map(({ text }) => text);
  return selectorText(selector.metric, rest);
}

/** Returns a selector. A metric name that needs quotes is put into the braces, as Prometheus 3 requires. */
export function selectorText(metric: string | null, matchers: readonly string[]): string {
  const isPlain = metric === null || PLAIN_METRIC.test(metric);
  const inside = isPlain ? matchers : [stringLiteral(metric), ...matchers];
  return `${isPlain ? (metric ?? '') : ''}{${inside.join(', ')}}`;
}

export function metricText(metric: string): string {
  return PLAIN_METRIC.test(metric) ? metric : selectorText(metric, []);
}

/** Returns a label name for matchers and `by (...)`, in quotes if Prometheus 3 requires them. */
export function labelText(label: string): string {
  return PLAIN_LABEL.test(label) ? label : stringLiteral(label);
}

export function readSelector(
  query: string,
  node: SyntaxNode,
): VectorSelector & { readonly matchers: readonly SelectorMatcher[] } {
  const slice = (part: SyntaxNode): string => query.slice(part.from, part.to);
  const identifier = node.getChild('Identifier');
  const braces = node.getChild('LabelMatchers');
  const quotedName = braces?.getChild('QuotedLabelName') ?? null;
  const parent = node.parent?.name === 'MatrixSelector' ? node.parent : null;
  const range = parent?.getChild('DurationExpr') ?? null;
  const nameOf = (): string | null => {
    if (identifier !== null) return slice(identifier);
    return quotedName === null ? null : readStringLiteral(slice(quotedName));
  };
  const matchers = [
    ...(braces?.getChildren('UnquotedLabelMatcher') ?? []),
    ...(braces?.getChildren('QuotedLabelMatcher') ?? []),
  ];
  return {
    text: slice(node),
    metric: nameOf(),
    matchers: matchers.flatMap((matcher) => readMatcher(slice, matcher)),
    range: range === null ? null : slice(range),
  };
}

function readMatcher(slice: (part: SyntaxNode) => string, matcher: SyntaxNode): readonly SelectorMatcher[] {
  const plain = matcher.getChild('LabelName');
  const quoted = matcher.getChild('QuotedLabelName');
  const operator = matcher.getChild('MatchOp');
  const value = matcher.getChild('StringLiteral');
  const label = plain ?? quoted;
  if (!label || !operator || !value) return [];
  const written = slice(value);
  return [
    {
      label: quoted === null ? slice(label) : readStringLiteral(slice(label)),
      operator: slice(operator),
      // A variable without quotes is kept as the value, because it becomes a string later.
      value: written.startsWith('$') ? written : readStringLiteral(written),
      text: slice(matcher),
      offset: matcher.from,
    },
  ];
}

/**
 * Returns the names of the metrics in a query (`name{...}`, `{"name"}`, `{__name__="name"}`), in order of first
 * appearance. Names with a variable are omitted.
 */
export function metricNames(query: string): readonly string[] {
  const { text, tree } = parseQuery(query);
  const names = new Set<string>();
  tree.iterate({
    enter: (node) => {
      if (node.name !== 'VectorSelector') return;
      for (const name of selectorNames(text, node.node)) names.add(name);
    },
  });
  return Array.from(names).filter((name) => name !== '' && !/\$[A-Za-z_]/.test(name));
}

function selectorNames(text: string, selector: SyntaxNode): readonly string[] {
  const identifier = selector.getChild('Identifier');
  if (identifier !== null) return [text.slice(identifier.from, identifier.to)];
  const matchers = selector.getChild('LabelMatchers');
  if (matchers === null) return [];
  const quoted = matchers.getChildren('QuotedLabelName').map((node) => text.slice(node.from, node.to));
  const named = matchers
    .getChildren('UnquotedLabelMatcher')
    .flatMap((matcher) => nameMatcherValue(text, matcher));
  return [...quoted, ...named].map(readStringLiteral);
}

function nameMatcherValue(text: string, matcher: SyntaxNode): readonly string[] {
  const label = matcher.getChild('LabelName');
  const value = matcher.getChild('StringLiteral');
  const isEqual = matcher.getChild('MatchOp')?.getChild('EqlSingle') !== null;
  if (label === null || value === null || !isEqual) return [];
  return text.slice(label.from, label.to) === '__name__' ? [text.slice(value.from, value.to)] : [];
}
