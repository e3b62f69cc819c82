import { analyzeQuery } from '../../promql/analyze.js';
import { findQueryLimit } from '../../promql/query-limits.js';
import { FUNCTION_NAMES } from '../../promql/signatures.js';
import { type SyntaxProblem, checkSyntax } from '../../promql/syntax.js';
import { listVariables } from '../../promql/variables.js';
import { type Finding, finding, findTemplate, formatPath, type Path } from '../problems/finding.js';
import { didYouMean } from '../problems/nearest.js';
import type { ProblemCode } from '../problems/problem-codes.js';
import { type QueriedMember, queriedBody } from '../resolve/metric-form.js';
import { queriedName } from '../resolve/resolve-metric.js';
import { type ServiceFacts, isMetricsql } from './admission-rules.js';
import { checkCounters } from './query-selection-rules.js';
import { checkFiller, checkQueryResult, checkPatterns, checkTypes } from './query-result-rules.js';
import type { Loose, MetricInput } from '../schema/document-schema.js';
import type { LabelSelectorInput } from '../schema/metric-schema.js';

/** The variables of a query. Source: contract.md section 2. */
export const QUERY_VARIABLES: readonly string[] = ['namespace', 'name', 'pods', 'object'];

interface QueryOptions {
  readonly hasObject: boolean;
  readonly isMetricsql: boolean;
}

type LooseBody = Loose<NonNullable<MetricInput['object']>>;

export function checkMetricQuery(
  metric: Loose<MetricInput>,
  path: Path,
  {
    isBroken,
    isWellFormed,
    service,
    namespace,
  }: {
    readonly isBroken: (path: Path) => boolean;
    readonly isWellFormed: boolean;
    readonly service: Pick<ServiceFacts, 'sources'> | undefined;
    /** The namespace of the scaler; undefined: unknown. */
    readonly namespace: string | undefined;
  },
): readonly Finding[] {
  const queried = queriedBody(metric);
  if (queried === null) return [];
  const { member, body } = queried;
  const bodyPath = [...path, member];
  const hasObject = body.describedObject !== undefined;
  const options = { hasObject, isMetricsql: isMetricsql(service, body.source) };
  return [
    ...checkQuery(body, bodyPath, { ...options, isBroken, namespace, member: isWellFormed ? member : null }),
    ...checkSideQuery(body.guard, [...bodyPath, 'guard'], options),
    ...checkSideQuery(body.freshness?.query, [...bodyPath, 'freshness', 'query'], options),
    ...checkCapacity(body, [...bodyPath, 'capacity'], options),
    ...checkBacklog(body, bodyPath, options),
    ...checkPerPod(body, bodyPath),
    ...checkSelector(body.metric?.selector, [...bodyPath, 'metric', 'selector']),
    ...checkMissingPolicy(body, bodyPath),
  ];
}

function checkQuery(
  body: LooseBody,
  path: Path,
  {
    isBroken,
    member,
    namespace,
    ...options
  }: QueryOptions & {
    readonly isBroken: (path: Path) => boolean;
    /** The type of the metric; null: unknown, because no type is set, or several are. */
    readonly member: QueriedMember | null;
    readonly namespace: string | undefined;
  },
): readonly Finding[] {
  const queryPath = [...path, 'query'];
  const name = formatPath(queryPath);
  if (body.query === undefined) {
    if (isBroken(queryPath)) return [];
    const message = `${name} is missing: add the PromQL query that returns this metric, because promscaler uses no metrics API`;
    return [{ ...finding('missing-query', queryPath, message), at: 'key' }];
  }
  const findings = [
    ...checkPromql(body.query, queryPath, options),
    ...checkVariables(body.query, queryPath, options.hasObject),
  ];
  const hasSyntax = findings.every(({ code }) => code !== 'query-syntax' && code !== 'query-limit');
  // A rejected query gets no warnings about its result.
  if (findings.every(({ code }) => code === 'query-unknown') && member !== null)
    findings.push(
      ...checkQueryResult({ query: body.query, path: queryPath, isMetricsql: options.isMetricsql }, body, {
        member,
        namespace,
      }),
    );
  if (hasSyntax && queriedName(body) === null && !isBroken([...path, 'metric'])) {
    const message = `${formatPath([...path, 'metric', 'name'])} is missing, and ${name} has no metric name to use as the default`;
    findings.push(finding('missing-metric-name', [...path, 'metric', 'name'], message));
  }
  return findings;
}

/** Checks the query of a backlog. Missing data must be an error: as 0, it would look like an empty backlog. */
function checkBacklog(body: LooseBody, path: Path, options: QueryOptions): readonly Finding[] {
  const query = body.backlog?.query;
  if (query === undefined) return [];
  const queryPath = [...path, 'backlog', 'query'];
  const zero = (['onMissing', 'onNaN'] as const).find((field) => body[field] === 'zero');
  const facts = analyzeQuery(query);
  const findings = [
    ...checkAmountQuery(query, queryPath, options),
    ...(facts === null ? [] : checkFiller({ query, path: queryPath }, facts, false)),
  ];
  if (zero === undefined) return findings;
  const message = `${formatPath([...path, zero])} is zero, so ${formatPath([...path, 'backlog'])} would have no effect: remove ${zero}`;
  return [...findings, finding('contradicting-type', [...path, zero], message)];
}

function checkCapacity({ capacity }: LooseBody, path: Path, options: QueryOptions): readonly Finding[] {
  if (capacity === undefined) return [];
  const { query, auto } = capacity;
  const queries = [
    ...checkAmountQuery(query, [...path, 'query'], options),
    ...checkAmountQuery(auto?.served?.query, [...path, 'auto', 'served', 'query'], options),
    ...checkAmountQuery(auto?.errors?.query, [...path, 'auto', 'errors', 'query'], options),
  ];
  if ((query === undefined) !== (auto === undefined)) return queries;
  const name = formatPath(path);
  const problem =
    query === undefined
      ? finding('missing-field', path, `${name} has neither the field query nor auto: set one of the two`)
      : finding('contradicting-type', path, `${name} has both fields query and auto: remove one of the two`);
  return [...queries, { ...problem, at: 'key' }];
}

/** Reports a backlog or capacity without `averageValue`, because only `averageValue` defines the load of one pod. */
function checkPerPod(body: LooseBody, path: Path): readonly Finding[] {
  const { averageValue, value } = body.target ?? {};
  if (averageValue !== undefined || value === undefined) return [];
  return (['backlog', 'capacity'] as const)
    .filter((field) => body[field] !== undefined)
    .map((field) => {
      const message = `${formatPath([...path, field])} needs target.averageValue, the load that one pod carries, not target.value`;
      return { ...finding('target-type', [...path, field], message), at: 'key' as const };
    });
}

/**
 * Checks a guard or freshness query. `or vector(0)` is allowed in such a query, because 0 means "false" for a guard and
 * "very old" for a timestamp.
 */
export function checkSideQuery(
  query: string | undefined,
  path: Path,
  options: QueryOptions,
): readonly Finding[] {
  if (query === undefined) return [];
  const findings = [...checkPromql(query, path, options), ...checkVariables(query, path, options.hasObject)];
  if (findings.some(({ code }) => code !== 'query-unknown')) return findings;
  return [
    ...findings,
    ...checkTypes({ query, path, isMetricsql: options.isMetricsql }),
    ...checkPatterns({ query, path }),
  ];
}

/**
 * Checks a query that returns an amount, such as the served or waiting requests. Warns about counters, which only grow.
 */
export function checkAmountQuery(
  query: string | undefined,
  path: Path,
  options: QueryOptions,
): readonly Finding[] {
  const expressions = query === undefined ? undefined : analyzeQuery(query)?.expressions;
  return [
    ...checkSideQuery(query, path, options),
    ...(expressions === undefined ? [] : checkCounters({ path, expressions })),
  ];
}

/** Checks the syntax of a query. Unknown names are only warnings, because a newer server may support them. */
export function checkPromql(
  query: string,
  path: Path,
  options: Pick<QueryOptions, 'isMetricsql'>,
): Finding[] {
  const template = findTemplate(query);
  if (template !== null) {
    const message = `${formatPath(path)}: ${template.message}`;
    return [{ ...finding('query-syntax', path, message), offset: template.index }];
  }
  return checkSyntax(query, options).map((problem) => {
    const { message, unknownFunction, offset } = problem;
    const hint = unknownFunction === undefined ? '' : didYouMean(unknownFunction, FUNCTION_NAMES);
    return { ...finding(codeOf(problem), path, `${formatPath(path)}: ${message}${hint}`), offset };
  });
}

function codeOf({ severity, isLimit }: SyntaxProblem): ProblemCode {
  if (isLimit === true) return 'query-limit';
  return severity === 'error' ? 'query-syntax' : 'query-unknown';
}

function checkVariables(query: string, path: Path, hasObject: boolean): readonly Finding[] {
  if (findQueryLimit(query) !== null) return [];
  const findings: Finding[] = [];
  for (const { name, offset } of listVariables(query)) {
    if (!QUERY_VARIABLES.includes(name)) {
      const known = QUERY_VARIABLES.map((variable) => `$${variable}`).join(', ');
      const hint = didYouMean(name, QUERY_VARIABLES).replace('"', '"$');
      const message = `${formatPath(path)}: $${name} is not a variable; the variables are ${known}${hint}`;
      findings.push({ ...finding('unknown-variable', path, message), offset });
    } else if (name === 'object' && !hasObject) {
      const message = `${formatPath(path)}: the variable $object is the name of describedObject, but describedObject is not set`;
      findings.push({ ...finding('object-variable', path, message), offset });
    }
  }
  return findings;
}

function checkSelector(selector: Loose<LabelSelectorInput> | undefined, path: Path): readonly Finding[] {
  return (selector?.matchExpressions ?? []).flatMap((expression, index) => {
    if (expression?.operator === undefined) return [];
    const { operator, values = [] } = expression;
    const expressionPath = [...path, 'matchExpressions', index];
    const needsValues = operator === 'In' || operator === 'NotIn';
    if (needsValues === values.length > 0) return [];
    const rule = needsValues ? 'needs values' : 'takes no values';
    const message = `${formatPath(expressionPath)}: operator ${operator} ${rule}`;
    return [finding('selector-values', expressionPath, message)];
  });
}

function checkMissingPolicy(body: LooseBody, path: Path): readonly Finding[] {
  if (body.backlog !== undefined) return [];
  return (['onMissing', 'onNaN'] as const)
    .filter((field) => body[field] === 'zero')
    .map((field) => {
      const what = field === 'onMissing' ? 'a query without series' : 'NaN';
      const message = `${formatPath([...path, field])} is zero: ${what} counts as 0, which may scale down`;
      return finding('missing-is-zero', [...path, field], message);
    });
}
