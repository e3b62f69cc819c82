import type { SyntaxNode } from '@lezer/common';
import { parseQuery } from './parse.js';
import { readStringLiteral } from './quoting.js';

/** One label matcher of a selector. */
export interface LabelMatcher {
  readonly label: string;
  /** `=`, `!=`, `=~`, `!~`. */
  readonly operator: string;
  /** Without its quotes. */
  readonly value: string;
  /** As written: `namespace="shop"`. */
  readonly text: string;
}

/** A selector of a query: `name{a="b"}`, without range, offset and `@`. */
export interface VectorSelector {
  /** As written. */
  readonly text: string;
  /** Null where the selector has none outside of its braces. */
  readonly metric: string | null;
  readonly matchers: readonly LabelMatcher[];
  /** The range behind it as written, `5m`; null where there is none. */
  readonly range: string | null;
}

/** The selectors of a query, in order of mention, each once for each range. Variables must have been replaced. */
export function vectorSelectors(query: string): readonly VectorSelector[] {
  const { text, tree } = parseQuery(query);
  const found = new Map<string, VectorSelector>();
  tree.iterate({
    enter: ({ node }) => {
      if (node.name !== 'VectorSelector') return;
      const selector = readSelector(text, node);
      found.set(`${selector.text}[${selector.range ?? ''}]`, selector);
    },
  });
  return [...found.values()];
}

/** The selector without one of its matchers. */
export function withoutMatcher(selector: VectorSelector, left: LabelMatcher): string {
  const rest = selector.matchers.filter((matcher) => matcher !== left).map(({ text }) => text);
  return `${selector.metric ?? ''}{${rest.join(', ')}}`;
}

function readSelector(text: string, node: SyntaxNode): VectorSelector {
  const slice = (part: SyntaxNode): string => text.slice(part.from, part.to);
  const identifier = node.getChild('Identifier');
  const braces = node.getChild('LabelMatchers');
  const matchers = braces?.getChildren('UnquotedLabelMatcher') ?? [];
  const parent = node.parent?.name === 'MatrixSelector' ? node.parent : null;
  const range = parent?.getChild('DurationExpr') ?? null;
  return {
    text: slice(node),
    metric: identifier === null ? null : slice(identifier),
    matchers: matchers.flatMap((matcher) => {
      const [label, operator, value] = ['LabelName', 'MatchOp', 'StringLiteral'].map((name) =>
        matcher.getChild(name),
      );
      if (!label || !operator || !value) return [];
      return [
        {
          label: slice(label),
          operator: slice(operator),
          value: readStringLiteral(slice(value)),
          text: slice(matcher),
        },
      ];
    }),
    range: range === null ? null : slice(range),
  };
}
