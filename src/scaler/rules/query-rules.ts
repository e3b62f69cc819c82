import { checkSyntax } from '../../promql/syntax.js';
import { listVariables } from '../../promql/variables.js';
import { type Finding, type Path, finding, formatPath } from './finding.js';
import { didYouMean } from '../problems/nearest.js';
import { queriedName } from '../resolve/resolve-metric.js';
import type { LabelSelectorInput, Loose, MetricInput } from '../schema.js';

/** What a query may use. Source: contract.md section 2. */
export const QUERY_VARIABLES: readonly string[] = ['namespace', 'name', 'pods', 'object'];

type LooseBody = Loose<NonNullable<MetricInput['object']>>;

/** What is wrong with the query of a Pods, Object or External metric, and with what belongs to it. */
export function checkMetricQuery(
  metric: Loose<MetricInput>,
  path: Path,
  isBroken: (path: Path) => boolean,
): readonly Finding[] {
  const member = (['pods', 'object', 'external'] as const).find((name) => metric[name] !== undefined);
  const body: LooseBody | undefined = member === undefined ? undefined : metric[member];
  if (member === undefined || body === undefined) return [];
  const bodyPath = [...path, member];
  const hasObject = body.describedObject !== undefined;
  return [
    ...checkQuery(body, bodyPath, { isBroken, hasObject }),
    ...checkSideQuery(body.guard, [...bodyPath, 'guard'], hasObject),
    ...checkSideQuery(body.freshness?.query, [...bodyPath, 'freshness', 'query'], hasObject),
    ...checkSelector(body.metric?.selector, [...bodyPath, 'metric', 'selector']),
    ...checkMissingPolicy(body, bodyPath),
  ];
}

function checkQuery(
  body: LooseBody,
  path: Path,
  { isBroken, hasObject }: { readonly isBroken: (path: Path) => boolean; readonly hasObject: boolean },
): readonly Finding[] {
  const queryPath = [...path, 'query'];
  const name = formatPath(queryPath);
  if (body.query === undefined) {
    if (isBroken(queryPath)) return [];
    const message = `${name} is missing: add the PromQL query that gives this metric, there is no metrics API to ask`;
    return [{ ...finding('missing-query', queryPath, message), at: 'key' }];
  }
  const findings = [
    ...checkPromql(body.query, queryPath),
    ...checkVariables(body.query, queryPath, hasObject),
    ...checkVectorZero(body.query, queryPath),
  ];
  const hasSyntax = findings.every(({ code }) => code !== 'query-syntax');
  if (hasSyntax && queriedName(body) === null && !isBroken([...path, 'metric'])) {
    const message = `${formatPath([...path, 'metric', 'name'])} is missing, and ${name} names no metric it could be taken from`;
    findings.push(finding('missing-metric-name', [...path, 'metric', 'name'], message));
  }
  return findings;
}

/** A query whose values are no metric: `or vector(0)` is no danger in one that judges, it says "not true" and "very old". */
export function checkSideQuery(
  query: string | undefined,
  path: Path,
  hasObject: boolean,
): readonly Finding[] {
  return query === undefined ? [] : [...checkPromql(query, path), ...checkVariables(query, path, hasObject)];
}

/** Grammar only. What a newer server may know is a warning: the server is the judge. */
export function checkPromql(query: string, path: Path): Finding[] {
  return checkSyntax(query).map(({ severity, offset, message }) => ({
    ...finding(
      severity === 'error' ? 'query-syntax' : 'query-unknown',
      path,
      `${formatPath(path)}: ${message}`,
    ),
    offset,
  }));
}

const VECTOR_ZERO = /\bor\s+(?:on\s*\([^)]*\)\s*)?vector\s*\(\s*[+-]?0*(?:\.0*)?\s*\)/i;

function checkVariables(query: string, path: Path, hasObject: boolean): readonly Finding[] {
  const findings: Finding[] = [];
  for (const { name, offset } of listVariables(query)) {
    if (!QUERY_VARIABLES.includes(name)) {
      const known = QUERY_VARIABLES.map((variable) => `$${variable}`).join(', ');
      const hint = didYouMean(name, QUERY_VARIABLES).replace('"', '"$');
      const message = `${formatPath(path)}: $${name} is no variable; there are ${known}${hint}`;
      findings.push({ ...finding('unknown-variable', path, message), offset });
    } else if (name === 'object' && !hasObject) {
      const message = `${formatPath(path)}: $object is the name of describedObject, and there is none here`;
      findings.push({ ...finding('object-variable', path, message), offset });
    }
  }
  return findings;
}

function checkVectorZero(query: string, path: Path): readonly Finding[] {
  const zero = VECTOR_ZERO.exec(query);
  if (zero === null) return [];
  const message = `${formatPath(path)}: "or vector(0)" makes 0 of data that is missing, and that scales down; onMissing: zero says it in the open`;
  return [{ ...finding('vector-zero', path, message), offset: zero.index }];
}

function checkSelector(selector: Loose<LabelSelectorInput> | undefined, path: Path): readonly Finding[] {
  return (selector?.matchExpressions ?? []).flatMap((expression, index) => {
    if (expression?.operator === undefined) return [];
    const { operator, values = [] } = expression;
    const place = [...path, 'matchExpressions', index];
    const needsValues = operator === 'In' || operator === 'NotIn';
    if (needsValues === values.length > 0) return [];
    const rule = needsValues ? 'needs values' : 'takes no values';
    return [finding('selector-values', place, `${formatPath(place)}: operator ${operator} ${rule}`)];
  });
}

function checkMissingPolicy(body: LooseBody, path: Path): readonly Finding[] {
  return (['onMissing', 'onNaN'] as const)
    .filter((field) => body[field] === 'zero')
    .map((field) => {
      const what = field === 'onMissing' ? 'no series' : 'NaN';
      const message = `${formatPath([...path, field])} is zero: ${what} counts as the value 0, and may scale down`;
      return finding('missing-is-zero', [...path, field], message);
    });
}
