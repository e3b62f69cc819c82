import type { SyntaxNode } from '@lezer/common';
import { parseQuery } from './parse.js';

/** Aggregations that keep the series they choose as they are. */
const KEEPS_SERIES: readonly string[] = ['Topk', 'Bottomk', 'LimitK', 'LimitRatio'];

/**
 * Whether no series of the answer can have the label: the query as a whole is an aggregation that drops it, such as
 * `sum(x)` or `sum without (pod) (x)` for `pod`. False where that cannot be told without the data, and for a query that
 * does not parse.
 */
export function dropsLabel(query: string, label: string): boolean {
  const { text, tree, errorNode } = parseQuery(query);
  const whole = errorNode === null ? outermost(tree.topNode) : null;
  if (whole?.name !== 'AggregateExpr') return false;
  const operator = whole.getChild('AggregateOp')?.firstChild?.name ?? '';
  if (KEEPS_SERIES.includes(operator)) return false;
  const modifier = whole.getChild('AggregateModifier');
  if (modifier === null) return true;
  const labels = (modifier.getChild('GroupingLabels')?.getChildren('LabelName') ?? []).map((name) =>
    text.slice(name.from, name.to),
  );
  return (modifier.getChild('Without') !== null) === labels.includes(label);
}

/** The expression without the parentheses around it. */
function outermost(node: SyntaxNode): SyntaxNode | null {
  let inner = node.firstChild;
  while (inner?.name === 'ParenExpr') inner = inner.firstChild;
  return inner;
}
