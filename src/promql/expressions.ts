import type { SyntaxNode, SyntaxNodeRef, Tree } from '@lezer/common';
import { rewriteMetricsql } from './metricsql.js';
import { parseQuery } from './parse.js';
import { readStringLiteral } from './quoting.js';
import { type SelectorMatcher, readSelector } from './vector-selectors.js';

interface Matching {
  readonly kind: 'on' | 'ignoring';
  readonly labels: readonly string[];
  /**
   * The many-side of many-to-one matching: `left` for group_left, `right` for group_right. Null: one-to-one matching.
   */
  readonly group: 'left' | 'right' | null;
  readonly include: readonly string[];
}

interface Base {
  /** UTF-16 offsets in the query. */
  readonly from: number;
  readonly to: number;
  /** Indexes of the operands, which are lower than the index of the expression itself. */
  readonly operands: readonly number[];
}

/** An expression of a query. `wrapped` is an expression in parentheses, or with `offset` or `@`. */
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
        /** Null: the aggregation has neither `by` nor `without`. */
        readonly grouping: { readonly kind: 'by' | 'without'; readonly labels: readonly string[] } | null;
      }
    | {
        readonly form: 'binary';
        /** The operator in lower case. */
        readonly operator: string;
        readonly operatorFrom: number;
        readonly isBool: boolean;
        readonly matching: Matching | null;
        /** Offset of a fill modifier in the query; null: there is none. */
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

/** Expressions without operands. Strings in a selector are matchers, not operands. */
const LEAVES: ReadonlySet<string> = new Set(['VectorSelector', 'StringLiteral', 'NumberDurationLiteral']);

/** Nodes in which strings and numbers are not operands. */
const NO_OPERANDS: ReadonlySet<string> = new Set([
  'GroupingLabels',
  'FillModifier',
  'AtModifierPreprocessors',
]);

const NAME = /[A-Za-z_:][A-Za-z0-9_:]*/y;

/**
 * Returns the expressions of a query, each after its operands. The last expression is the whole query. MetricsQL is
 * parsed as the nearest PromQL, but keeps its function names. Null: the query does not parse, or exceeds a limit. Not
 * recursive, because the tree of a long query has hundreds of levels.
 */
export function readExpressions(query: string): readonly Expression[] | null {
  const tree = treeOf(query);
  if (tree === null) return null;
  const expressions: Expression[] = [];
  /** The operands found so far, for each expression that is not finished; the innermost expression is the last. */
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

/** Returns an expression without parentheses, `offset` and `@`; undefined: the index is invalid. */
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
 * Reads a name from the query and not from the tree, in which functions that the grammar does not know are replaced.
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

/** Returns the node of the operator, which follows the left operand, possibly after a comment. */
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

/** Returns the operator. Operators of MetricsQL are read from the query, because they are replaced in the tree. */
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
