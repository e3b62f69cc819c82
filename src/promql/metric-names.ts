import type { SyntaxNode } from '@lezer/common';
import { parseQuery } from './parse.js';
import { readStringLiteral } from './quoting.js';

/**
 * Returns the names of the metrics in a query (`name{...}`, `{"name"}`, `{__name__="name"}`), in order of first
 * appearance. Omits names with a variable.
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
