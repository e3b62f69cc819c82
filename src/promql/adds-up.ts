import type { SyntaxNode } from '@lezer/common';
import { parseQuery } from './parse.js';

const ADDS: readonly string[] = ['Sum', 'Count', 'CountValues'];
const KEEPS: readonly string[] = ['Topk', 'Bottomk', 'LimitK', 'LimitRatio'];

/**
 * Returns whether a query adds up the series of a selector that differ only in `label`: the innermost aggregation that
 * drops the label is a sum or a count. If no aggregation drops the label, returns `asWhole`.
 */
export function addsUp(
  query: string,
  selector: string,
  { label, asWhole }: { readonly label: string; readonly asWhole: boolean },
): boolean {
  const { text, tree } = parseQuery(query);
  let isAdded = false;
  tree.iterate({
    enter: ({ node }) => {
      if (node.name !== 'VectorSelector' || text.slice(node.from, node.to) !== selector) return;
      const operator = dropperOf(node, { text, label });
      isAdded ||= operator === null ? asWhole : ADDS.includes(operator);
    },
  });
  return isAdded;
}

export function groupedBy(query: string, selector: string): readonly string[] | null {
  const { text, tree } = parseQuery(query);
  let found: readonly string[] | null = null;
  tree.iterate({
    enter: ({ node }) => {
      if (node.name !== 'VectorSelector' || text.slice(node.from, node.to) !== selector) return;
      for (let outer = node.parent; outer !== null && found === null; outer = outer.parent) {
        const modifier = outer.name === 'AggregateExpr' ? outer.getChild('AggregateModifier') : null;
        if (modifier !== null && modifier.getChild('Without') === null) found = labelsOf(modifier, text);
      }
    },
  });
  return found;
}

/** Returns the operator of the innermost aggregation that encloses `node` and drops the label; null: there is none. */
function dropperOf(
  node: SyntaxNode,
  { text, label }: { readonly text: string; readonly label: string },
): string | null {
  for (let outer = node.parent; outer !== null; outer = outer.parent) {
    if (outer.name !== 'AggregateExpr') continue;
    const operator = outer.getChild('AggregateOp')?.firstChild?.name ?? '';
    if (KEEPS.includes(operator)) continue;
    const modifier = outer.getChild('AggregateModifier');
    const isNamed = modifier !== null && labelsOf(modifier, text).includes(label);
    const isWithout = modifier !== null && modifier.getChild('Without') !== null;
    if (isWithout === isNamed) return operator;
  }
  return null;
}

function labelsOf(modifier: SyntaxNode, text: string): readonly string[] {
  const names = modifier.getChild('GroupingLabels')?.getChildren('LabelName') ?? [];
  return names.map((name) => text.slice(name.from, name.to));
}
