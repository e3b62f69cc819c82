import type { SyntaxNode, SyntaxNodeRef, Tree } from '@lezer/common';
import { rewriteMetricsql } from './metricsql.js';
import { parseQuery } from './parse.js';
import { readStringLiteral } from './quoting.js';
import { type SelectorMatcher, readSelector } from './vector-selectors.js';

interface Matching {
  readonly kind: 'on' | 'ignoring';
  readonly labels: readonly string[];
  /** The "many" side: `left` for group_left. */
  readonly group: 'left' | 'right' | null;
  readonly include: readonly string[];
}

interface Base {
  /** UTF-16 offsets into the query. */
  readonly from: number;
  readonly to: number;
  /** Indexes of the operands. Each one is lower than the index of the expression. */
  readonly operands: readonly number[];
}

/** `wrapped`: parentheses, `offset` and `@`. */
export type Expression = Base &
  (
    | { readonly form: 'number'; readonly text: string }
    | { readonly form: 'string'; readonly text: string }
    | {
        readonly form: 'selector';
        readonly metric: string | null;
        readonly matchers: readonly SelectorMatcher[];
      }
    | { readonly form: 'range' }
    | { readonly form: 'subquery' }
    | { readonly form: 'wrapped'; readonly node: string }
    | { readonly form: 'unary'; readonly operator: string }
    | { readonly form: 'call'; readonly name: string }
    | {
        readonly form: 'aggregate';
        readonly name: string;
        /** Null without `by` and `without`. */
        readonly grouping: { readonly kind: 'by' | 'without'; readonly labels: readonly string[] } | null;
      }
    | {
        readonly form: 'binary';
        /** Lower case. */
        readonly operator: string;
        readonly operatorFrom: number;
        readonly isBool: boolean;
        readonly matching: Matching | null;
        /** Offset of a fill modifier; null: none. */
        readonly fillFrom: number | null;
      }
  );

export type ExpressionOf<Form extends Expression['form']> = Extract<Expression, { readonly form: Form }>;

type Shape = Expression extends infer Each ? (Each extends Base ? Omit<Each, keyof Base> : never) : never;

const EXPRESSIONS: ReadonlySet<string> = new Set([
  'AggregateExpr',
  'BinaryExpr',
  'FunctionCall',
  'MatrixSelector',
  'NumberDurationLiteral',
  'OffsetExpr',
  'AnchoredExpr',
  'SmoothedExpr',
  'ParenExpr',
  'StringLiteral',
  'SubqueryExpr',
  'UnaryExpr',
  'VectorSelector',
  'StepInvariantExpr',
]);

/** Expressions without operands: strings in a selector are not operands. */
const LEAVES: ReadonlySet<string> = new Set(['VectorSelector', 'StringLiteral', 'NumberDurationLiteral']);

/** Nodes whose strings and numbers are not operands. */
const NO_OPERANDS: ReadonlySet<string> = new Set([
  'GroupingLabels',
  'FillModifier',
  'AtModifierPreprocessors',
]);

const NAME = /[A-Za-z_:][A-Za-z0-9_:]*/y;

/**
 * Returns the expressions of a query. Operands precede the expressions that use them; the last one is the whole query.
 * MetricsQL is read as the nearest PromQL, with its own function names. Null for a query that does not parse or exceeds
 * the limits. Not recursive, because the tree of a long query is hundreds of levels deep.
 */
export function readExpressions(query: string): readonly Expression[] | null {
  const tree = treeOf(query);
  if (tree === null) return null;
  const expressions: Expression[] = [];
  /** Operands of the unfinished expressions, innermost last. */
  const open: number[][] = [];
  const close = ({ node, from, to }: SyntaxNodeRef, operands: readonly number[]): void => {
    expressions.push({ from, to, operands, ...shapeOf(query, node) });
    open.at(-1)?.push(expressions.length - 1);
  };
  tree.iterate({
    enter: (ref) => {
      if (NO_OPERANDS.has(ref.name)) return false;
      if (LEAVES.has(ref.name)) close(ref, []);
      else if (EXPRESSIONS.has(ref.name)) open.push([]);
      return !LEAVES.has(ref.name);
    },
    leave: (ref) => {
      if (EXPRESSIONS.has(ref.name)) close(ref, open.pop() ?? []);
    },
  });
  return expressions.length === 0 ? null : expressions;
}

/** Strips parentheses, `offset` and `@`; undefined for an invalid index. */
export function unwrap(
  expressions: readonly Expression[],
  index: number | undefined,
): Expression | undefined {
  let inner = index === undefined ? undefined : expressions[index];
  while (inner?.form === 'wrapped') {
    const [operand] = inner.operands;
    inner = operand === undefined ? undefined : expressions[operand];
  }
  return inner;
}

function treeOf(query: string): Tree | null {
  const parsed = parseQuery(query);
  if (parsed.errorNode === null) return parsed.tree;
  if (parsed.limit !== null) return null;
  const rewritten = rewriteMetricsql(query);
  const nearest = rewritten === null ? null : parseQuery(rewritten);
  return nearest?.errorNode === null ? nearest.tree : null;
}

function shapeOf(query: string, node: SyntaxNode): Shape {
  const text = query.slice(node.from, node.to);
  switch (node.name) {
    case 'NumberDurationLiteral':
      return { form: 'number', text };
    case 'StringLiteral':
      return { form: 'string', text: text.startsWith('$') ? text : readStringLiteral(text) };
    case 'VectorSelector': {
      const { metric, matchers } = readSelector(query, node);
      return { form: 'selector', metric, matchers };
    }
    case 'MatrixSelector':
      return { form: 'range' };
    case 'SubqueryExpr':
      return { form: 'subquery' };
    case 'UnaryExpr':
      return { form: 'unary', operator: text.charAt(0) };
    case 'FunctionCall':
      return { form: 'call', name: nameAt(query, node.from) };
    case 'AggregateExpr':
      return {
        form: 'aggregate',
        name: nameAt(query, node.from).toLowerCase(),
        grouping: groupingOf(query, node),
      };
    case 'BinaryExpr':
      return binaryOf(query, node);
    default:
      return { form: 'wrapped', node: node.name };
  }
}

/**
 * Reads the name from the query, because the tree contains a replacement for functions that the grammar does not know.
 */
function nameAt(query: string, from: number): string {
  NAME.lastIndex = from;
  return NAME.exec(query)?.[0] ?? '';
}

function groupingOf(
  query: string,
  node: SyntaxNode,
): { readonly kind: 'by' | 'without'; readonly labels: readonly string[] } | null {
  const modifier = node.getChild('AggregateModifier');
  if (modifier === null) return null;
  const kind = modifier.getChild('Without') === null ? 'by' : 'without';
  return { kind, labels: labelsOf(query, modifier.getChild('GroupingLabels')) };
}

function labelsOf(query: string, grouping: SyntaxNode | null): readonly string[] {
  if (grouping === null) return [];
  return [...grouping.getChildren('LabelName'), ...grouping.getChildren('QuotedLabelName')].map((label) => {
    const text = query.slice(label.from, label.to);
    return label.name === 'LabelName' ? text : readStringLiteral(text);
  });
}

function binaryOf(query: string, node: SyntaxNode): Extract<Shape, { readonly form: 'binary' }> {
  const operator = operatorOf(node);
  const clause = node.getChild('MatchingModifierClause');
  return {
    form: 'binary',
    operator: operator === null ? '' : operatorName(query, operator),
    operatorFrom: operator?.from ?? node.from,
    isBool: node.getChild('BoolModifier') !== null,
    matching: clause === null ? null : matchingOf(query, clause),
    fillFrom: node.getChild('FillModifier')?.from ?? null,
  };
}

/** The operator follows the left operand, possibly after a comment. */
function operatorOf(node: SyntaxNode): SyntaxNode | null {
  let child = node.firstChild?.nextSibling ?? null;
  while (child?.name === 'LineComment') child = child.nextSibling;
  return child;
}

const OPERATORS: Readonly<Record<string, string>> = {
  Pow: '^',
  Mul: '*',
  Div: '/',
  Mod: '%',
  Add: '+',
  Sub: '-',
  Eql: '==',
  Neq: '!=',
  Gte: '>=',
  Gtr: '>',
  Lte: '<=',
  Lss: '<',
};

/** The tree contains a replacement for operators of MetricsQL. */
function operatorName(query: string, { name, from }: SyntaxNode): string {
  return OPERATORS[name] ?? nameAt(query, from).toLowerCase();
}

function matchingOf(query: string, clause: SyntaxNode): Matching {
  const [labels = null, include = null] = clause.getChildren('GroupingLabels');
  const isLeft = clause.getChild('GroupLeft') !== null;
  const isRight = clause.getChild('GroupRight') !== null;
  return {
    kind: clause.getChild('On') === null ? 'ignoring' : 'on',
    labels: labelsOf(query, labels),
    group: isLeft ? 'left' : isRight ? 'right' : null,
    include: labelsOf(query, include),
  };
}
