import { analyzeQuery } from './analyze.js';
import type { Expression, ExpressionOf } from './expressions.js';
import { parseQuery, rememberByQuery } from './parse.js';
import { signatureOf } from './signatures.js';
import { listVariables } from './variables.js';

/**
 * How the result depends on the pods. `pods`: the result for the pods of two workloads together is the union of their
 * separate results. `constant`: the result does not depend on the pods. `other`: any other dependence.
 */
type Scope = 'pods' | 'constant' | 'other';

/**
 * Functions whose result for two workloads together differs from the union of their separate results: they combine all
 * series, or write labels, so that two series may get equal labels.
 */
const NOT_BY_POD: ReadonlySet<string> = new Set([
  'absent',
  'absent_over_time',
  'label_join',
  'label_replace',
  'scalar',
]);

/**
 * Aggregations that compute one value per group. The other aggregations do not keep pods apart: they select among
 * series with equal values, or write a label.
 */
const AGGREGATES: ReadonlySet<string> = new Set([
  'avg',
  'count',
  'group',
  'max',
  'min',
  'quantile',
  'stddev',
  'stdvar',
  'sum',
]);

/**
 * Returns whether a query with `$pods` evaluates each pod separately: all its selectors have `pod=~"$pods"`, and each
 * operator and aggregation keeps pods apart. If so, one query for the pods of several workloads returns the same series
 * as one query for each workload. False in doubt, and for MetricsQL.
 */
export const isByPod = rememberByQuery(
  (query) => query.includes('$pods') && readScope(query) === 'pods',
  1000,
);

function readScope(query: string): Scope {
  const { errorNode, unknownFunctions } = parseQuery(query);
  const facts = analyzeQuery(query);
  if (errorNode !== null || unknownFunctions.length > 0) return 'other';
  if (facts?.type !== 'vector' || facts.problems.length > 0) return 'other';
  const scopes: Scope[] = [];
  let selectors = 0;
  for (const expression of facts.expressions) {
    if (expression.form === 'selector') selectors += 1;
    scopes.push(scopeOf(expression, scopes));
  }
  // If `$pods` is also used outside of `pod=~"$pods"`, a pattern for several workloads could change the result.
  const uses = listVariables(query).filter(({ name }) => name === 'pods').length;
  return uses === selectors ? (scopes.at(-1) ?? 'other') : 'other';
}

function scopeOf(expression: Expression, scopes: readonly Scope[]): Scope {
  const operands = expression.operands.map((operand) => scopes[operand] ?? 'other');
  switch (expression.form) {
    case 'number':
    case 'string':
      return 'constant';
    case 'selector':
      return isOfPods(expression) ? 'pods' : 'other';
    case 'range':
    case 'subquery':
    case 'unary':
    case 'wrapped':
      return operands[0] ?? 'other';
    case 'call':
      return signatureOf(expression.name) === null || NOT_BY_POD.has(expression.name)
        ? 'other'
        : onePods(operands);
    case 'aggregate':
      return scopeOfAggregate(expression, operands);
    case 'binary':
      return scopeOfBinary(expression, operands);
    default:
      return expression satisfies never;
  }
}

function isOfPods({ matchers }: ExpressionOf<'selector'>): boolean {
  const ofPods = matchers.filter(({ value }) => value.includes('$pods'));
  return (
    ofPods.length === 1 &&
    ofPods.every(({ label, operator, value }) => label === 'pod' && operator === '=~' && value === '$pods')
  );
}

/**
 * Returns the scope of the only operand that is not a constant, such as `x` in `clamp(x, 0, 1)`; `other` if there are
 * several such operands, or none.
 */
function onePods(operands: readonly Scope[]): Scope {
  const [one = 'other', ...others] = operands.filter((scope) => scope !== 'constant');
  return others.length === 0 ? one : 'other';
}

function scopeOfAggregate({ name, grouping }: ExpressionOf<'aggregate'>, operands: readonly Scope[]): Scope {
  if (!AGGREGATES.has(name) || grouping === null) return 'other';
  const keepsPod = grouping.labels.includes('pod') === (grouping.kind === 'by');
  return keepsPod ? onePods(operands) : 'other';
}

function scopeOfBinary({ matching, fillFrom }: ExpressionOf<'binary'>, operands: readonly Scope[]): Scope {
  if (operands.every((scope) => scope === 'constant')) return 'constant';
  if (operands.includes('constant')) return onePods(operands);
  const comparesPods = matching === null || matching.labels.includes('pod') === (matching.kind === 'on');
  return comparesPods && fillFrom === null && operands.every((scope) => scope === 'pods') ? 'pods' : 'other';
}
