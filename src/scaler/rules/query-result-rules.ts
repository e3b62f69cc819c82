import { type QueryFacts, analyzeQuery } from '../../promql/analyze.js';
import { type Expression, type ExpressionOf, unwrap } from '../../promql/expressions.js';
import { mayHave } from '../../promql/labels.js';
import { NEEDS_METRICSQL } from '../../promql/metricsql.js';
import { excerpt } from '../../promql/types.js';
import { labelText } from '../../promql/vector-selectors.js';
import { type Finding, finding, formatPath, type Path } from '../problems/finding.js';
import { didYouMean, nearest } from '../problems/nearest.js';
import type { Loose, MetricInput } from '../schema/document-schema.js';
import type { LabelSelectorInput } from '../schema/metric-schema.js';
import type { QueriedMember } from '../resolve/metric-form.js';
import { checkSelection } from './query-selection-rules.js';

interface LocatedQuery {
  readonly query: string;
  readonly path: Path;
  readonly isMetricsql: boolean;
}

type Body = Loose<NonNullable<MetricInput['object']>>;

/** Checks the types and labels of the result, and the treatment of missing data, in the syntax tree. */
export function checkQueryResult(
  placed: LocatedQuery,
  body: Body,
  { member, namespace }: { readonly member: QueriedMember; readonly namespace: string | undefined },
): readonly Finding[] {
  const facts = analyzeQuery(placed.query);
  if (facts === null) return [];
  const typeFindings = checkTypes(placed);
  if (typeFindings.some(({ code }) => code === 'query-type')) return typeFindings;
  const podLabelFindings = member === 'pods' ? checkPodLabel(placed) : [];
  const isOfPods = member === 'pods' && podLabelFindings.length === 0;
  return [
    ...typeFindings,
    ...checkFiller(placed, facts, member !== 'pods'),
    ...podLabelFindings,
    ...checkSelectorLabels(body.metric?.selector, facts, placed.path.slice(0, -1)),
    ...checkFilter(placed, facts, { member, onMissing: body.onMissing }),
    ...checkMatching(placed, facts),
    ...checkSelection({ path: placed.path, expressions: facts.expressions, isOfPods, namespace }),
    ...checkPatterns(placed),
  ];
}

/** Reports wrong types, because the server would reject such a query. */
export function checkTypes(placed: LocatedQuery): readonly Finding[] {
  const { query, path, isMetricsql } = placed;
  const facts = analyzeQuery(query);
  if (facts === null) return [];
  const name = formatPath(path);
  const findings = facts.problems.map((problem): Finding => {
    const mayPass = problem.isMetricsql && isMetricsql;
    const note = problem.isMetricsql
      ? ` (${mayPass ? 'the query may be valid MetricsQL, which promscaler cannot check' : `as MetricsQL, ${NEEDS_METRICSQL}`})`
      : '';
    const message = `${name}: ${problem.message}${note}`;
    return { ...finding(mayPass ? 'query-unknown' : 'query-type', path, message), offset: problem.offset };
  });
  if (findings.length > 0 || (facts.type !== 'range' && facts.type !== 'string')) return findings;
  const message =
    facts.type === 'string'
      ? `${name}: the query returns a string, but a metric needs a number`
      : `${name}: the query returns a range vector, but a metric needs an instant vector: wrap the query in rate(...) or avg_over_time(...), or remove the range`;
  return [finding('query-type', path, message)];
}

/**
 * Warns if a constant replaces missing data, because a failed scrape then looks like no load. `isTotal`: whether the
 * metric can have `onMissing` and `guard`; the advice then names them.
 */
export function checkFiller(
  { query, path }: Pick<LocatedQuery, 'query' | 'path'>,
  { filler }: QueryFacts,
  isTotal: boolean,
): readonly Finding[] {
  if (filler === null) return [];
  const { value, isWhole, from } = filler;
  const number = value === null ? 'a number' : String(value);
  const where = isWhole ? '' : ' in a part of the query';
  const scales = value === 0 ? ', which scales down' : '';
  const instead =
    isTotal && isWhole && value === 0
      ? ', or write onMissing: zero if no series means 0'
      : isTotal && !isWhole
        ? ', or add a guard that is true only while the data exists, such as count(up{job="NAME"} == 1) > 0'
        : '; spec.fallback sets replicas for a metric without a value';
  const message = `${formatPath(path)}: "${excerpt(query, filler)}" turns missing data into ${number}${where}${scales}: remove this expression${instead}`;
  return [{ ...finding('vector-zero', path, message), offset: from }];
}

export function checkPodLabel({ query, path }: Pick<LocatedQuery, 'query' | 'path'>): readonly Finding[] {
  const facts = analyzeQuery(query);
  if (facts === null || mayHave(facts.labels, 'pod')) return [];
  const names = facts.labels.isOpen ? [] : [...facts.labels.names];
  const other =
    names.find((name) => /pod/i.test(name)) ?? names.find((name) => name.length === 3 && isPod(name));
  const instead =
    other === undefined
      ? 'aggregate by (pod); a total over all pods is an External metric'
      : other.toLowerCase() === 'pod'
        ? `label names are case-sensitive, write pod instead of ${other}`
        : isPod(other)
          ? `${other} is not the label of a pod, write by (pod)`
          : `where ${other} names the pod, write label_replace(..., "pod", "$1", "${other}", "(.+)")`;
  const message = `${formatPath(path)}: the result of the query has no label "pod", so no series belongs to a pod: ${instead}`;
  return [finding('no-pod-label', path, message)];
}

/** Returns whether a label is a misspelled `pod`. */
function isPod(label: string): boolean {
  return nearest(label, ['pod']) !== null;
}

function checkSelectorLabels(
  selector: Loose<LabelSelectorInput> | undefined,
  { labels }: QueryFacts,
  body: Path,
): readonly Finding[] {
  const path = [...body, 'metric', 'selector'];
  const report = (label: string, selectorPath: Path, at: 'key' | 'value'): readonly Finding[] => {
    if (mayHave(labels, label)) return [];
    const message = `${formatPath(selectorPath)}: no series of the result has the label ${JSON.stringify(label)}, so no series matches the selector: keep the label, as in by (${label})${didYouMean(label, [...labels.names])}`;
    return [{ ...finding('selector-label', selectorPath, message), at }];
  };
  const labelFindings = Object.keys(selector?.matchLabels ?? {}).flatMap((label) =>
    report(label, [...path, 'matchLabels', label], 'key'),
  );
  const expressionFindings = (selector?.matchExpressions ?? []).flatMap((expression, index) => {
    const { key, operator, values = [] } = expression ?? {};
    const isIn = operator === 'In' && values.length > 0;
    if (key === undefined || (!isIn && operator !== 'Exists')) return [];
    return report(key, [...path, 'matchExpressions', index, 'key'], 'value');
  });
  return [...labelFindings, ...expressionFindings];
}

/**
 * Warns if the whole query is a comparison: while the comparison is false, there are no series, and the replica count
 * is held.
 */
function checkFilter(
  { query, path }: LocatedQuery,
  { expressions }: QueryFacts,
  { member, onMissing }: { readonly member: QueriedMember; readonly onMissing: string | undefined },
): readonly Finding[] {
  const whole = unwrap(expressions, expressions.length - 1);
  if (whole?.form !== 'binary' || whole.isBool || onMissing === 'zero') return [];
  if (!['==', '!=', '<', '<=', '>', '>='].includes(whole.operator) || keepsValues(query, expressions, whole))
    return [];
  const { operator, operatorFrom } = whole;
  const instead = member === 'pods' ? '' : `, or write ${operator} bool to get 1 or 0`;
  const message = `${formatPath(path)}: while the comparison ${operator} is false, the metric has no value, and the scaler does not scale down: remove the comparison${instead}`;
  return [{ ...finding('comparison-filters', path, message), offset: operatorFrom }];
}

/**
 * Returns whether a comparison removes no usable value. `x >= 0`, `x > -1` and `x != -1` remove only values that do not
 * occur, and `x == x` removes only NaN.
 */
function keepsValues(
  query: string,
  expressions: readonly Expression[],
  { operator, operands }: ExpressionOf<'binary'>,
): boolean {
  const [left, right] = operands.map((operand) => unwrap(expressions, operand));
  if (left === undefined || right === undefined) return true;
  if (operator === '==' && query.slice(left.from, left.to) === query.slice(right.from, right.to)) return true;
  const bound = right.form === 'number' ? Number(right.text) : NaN;
  return bound < 0 ? ['>', '>=', '!='].includes(operator) : bound === 0 && operator === '>=';
}

/**
 * Reports an operator whose sides never have equal labels: one side has no labels, and the other side is aggregated by
 * labels.
 */
function checkMatching(
  { path, isMetricsql, query }: LocatedQuery,
  { unmatched, expressions }: QueryFacts,
): readonly Finding[] {
  const expression = unmatched === null ? undefined : expressions[unmatched];
  if (isMetricsql || expression?.form !== 'binary') return [];
  const { operator, operatorFrom, operands } = expression;
  const [left, right] = operands.map((operand) => expressions[operand]);
  if (left === undefined || right === undefined) return [];
  const message = `${formatPath(path)}: no series match across ${operator}, because the labels of ${excerpt(query, left)} and ${excerpt(query, right)} differ: write ${operator} on () group_left () or aggregate both sides by the same labels`;
  return [{ ...finding('no-match', path, message), offset: operatorFrom }];
}

const PATTERN_VARIABLE = /\$(pods|namespaces)(?![A-Za-z0-9_])/;

/** Reports `pod="$pods"`. `$pods` is a regular expression, so `=` would select a pod with that literal name. */
export function checkPatterns({ query, path }: Pick<LocatedQuery, 'query' | 'path'>): readonly Finding[] {
  const selectors = analyzeQuery(query)?.expressions.filter(({ form }) => form === 'selector') ?? [];
  return selectors.flatMap((expression) => {
    if (expression.form !== 'selector') return [];
    return expression.matchers.flatMap(({ label, operator, value, offset }) => {
      const variable = PATTERN_VARIABLE.exec(value)?.[1];
      if (variable === undefined || (operator !== '=' && operator !== '!=')) return [];
      const right = `${labelText(label)}${operator === '=' ? '=~' : '!~'}"${value}"`;
      const message = `${formatPath(path)}: $${variable} is a regular expression, which ${operator} compares as a string: write ${right}`;
      return [{ ...finding('pattern-as-text', path, message), offset }];
    });
  });
}
