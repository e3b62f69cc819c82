import { analyzeQuery } from './analyze.js';
import type { Expression, ExpressionOf } from './expressions.js';
import { parseQuery, rememberByQuery } from './parse.js';
import { signatureOf } from './signatures.js';
import { listVariables } from './variables.js';

/** `pods`: the result for the pods of two workloads is the union of the results for each of them. */
type Scope = 'pods' | 'constant' | 'other';

/** Functions that combine all series, or that write labels, after which two series may have equal labels. */
const NOT_BY_POD: ReadonlySet<string> = new Set([
  'absent',
  'absent_over_time',
  'label_join',
  'label_replace',
  'scalar',
]);

/** Aggregations with one value per group. Other aggregations select among equal series, or write a label. */
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
 * Returns whether a query with `$pods` evaluates each pod separately. One query for the pods of several workloads then
 * returns the same series as a query for each workload: all its selectors have `pod=~"$pods"`, and each operator and
 * aggregation keeps pods apart. False in doubt, and for MetricsQL.
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
  // Any other use of `$pods` needs the value of one workload.
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

/** Accepts one operand by pod, such as the series of rate(), and constants, such as the bounds of clamp(). */
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
