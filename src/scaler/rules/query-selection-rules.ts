import { type Expression, type ExpressionOf, unwrap } from '../../promql/expressions.js';
import { type Finding, finding, formatPath, type Path } from '../problems/finding.js';

type Selector = ExpressionOf<'selector'>;

interface Selecting {
  readonly path: Path;
  readonly expressions: readonly Expression[];
  /** Whether the result must have one series per pod. */
  readonly isOfPods: boolean;
  /** The namespace of the scaler; undefined: unknown. */
  readonly namespace: string | undefined;
}

/**
 * Checks which series the selectors of a valid query select. Warns about series of other workloads, and about counters.
 */
export function checkSelection(query: Selecting): readonly Finding[] {
  const selectors = query.expressions.filter((expression) => expression.form === 'selector');
  return [
    ...checkPodSelection(query, selectors),
    ...checkNamespaces(query, selectors),
    ...checkCounters(query),
  ];
}

/**
 * Reports a query for pods that selects no namespace and no pods. A series is assigned to the pod with the same name,
 * and StatefulSets in two namespaces often have pods with equal names.
 */
function checkPodSelection(
  { path, isOfPods }: Selecting,
  selectors: readonly Selector[],
): readonly Finding[] {
  const [first] = selectors;
  if (!isOfPods || first === undefined || selectors.some(isRestricted)) return [];
  const message = `${formatPath(path)} selects the pods of all namespaces, and pods in two namespaces may have the same name: add {namespace="$namespace", pod=~"$pods"}`;
  return [{ ...finding('no-pod-selector', path, message), offset: first.from }];
}

function isRestricted({ matchers }: Selector): boolean {
  return matchers.some(({ label, operator }) => label !== '__name__' && ['=', '=~'].includes(operator));
}

/**
 * Reports a selector of a namespace other than the scaler's. A regular expression (`=~`) is accepted, because it shows
 * that the other namespace is intended.
 */
function checkNamespaces(
  { path, isOfPods, namespace }: Selecting,
  selectors: readonly Selector[],
): readonly Finding[] {
  if (namespace === undefined) return [];
  return selectors.flatMap(({ matchers }) =>
    matchers
      .filter(({ label, operator, value }) => label === 'namespace' && operator === '=' && isName(value))
      .filter(({ value }) => value !== namespace)
      .map(({ value, text, offset }) => {
        const instead = isOfPods
          ? ', so the query returns no pod of the workload: write namespace="$namespace"'
          : `: write namespace="$namespace", or namespace=~"${value}" if the other namespace is intended`;
        const message = `${formatPath(path)} has ${text}, but the scaler is in namespace ${namespace}${instead}`;
        return { ...finding('foreign-namespace', path, message), offset };
      }),
  );
}

function isName(value: string): boolean {
  return /^[a-z0-9-]+$/.test(value);
}

/** Functions whose result never decreases if their operand is a counter. */
const KEEPS_COUNTER =
  /^(?:(?:avg|max|min|last|sum|quantile|first|median)_over_time|clamp(?:_max|_min)?|abs|ceil|floor|round|label_join|label_replace|scalar|vector|sort(?:_desc)?|keep_last_value)$/;

/** Names of counters, including histograms with a unit, and counters of Triton, which have no suffix. */
const COUNTER =
  /[^:]_total$|[^:]_(?:seconds|milliseconds|bytes)_(?:sum|count)$|[^:]_bucket$|^nv_inference_(?:request_(?:success|failure)|count|exec_count|\w+_duration_us)$/;

/**
 * Reports a counter without `rate`. A counter increases until the process restarts, so it reaches any target and never
 * causes a scale-down.
 */
export function checkCounters({
  path,
  expressions,
}: Pick<Selecting, 'path' | 'expressions'>): readonly Finding[] {
  const open = [expressions.length - 1];
  const seen = new Set<string>();
  const findings: Finding[] = [];
  while (open.length > 0) {
    const expression = unwrap(expressions, open.pop());
    if (expression === undefined) continue;
    open.push(...valueOperands(expression, expressions));
    if (expression.form !== 'selector') continue;
    const { metric, from } = expression;
    if (metric === null || !COUNTER.test(metric) || seen.has(metric)) continue;
    seen.add(metric);
    const message = `${formatPath(path)}: ${metric} is a counter, whose value only grows: write rate(${metric}{...}[2m]) for the amount per second`;
    findings.push({ ...finding('counter-without-rate', path, message), offset: from });
  }
  return findings;
}

/** Returns the operands that make the result increase when they increase. */
function valueOperands(expression: Expression, expressions: readonly Expression[]): readonly number[] {
  const { operands } = expression;
  switch (expression.form) {
    case 'number':
    case 'string':
    case 'selector':
      return [];
    case 'range':
    case 'subquery':
    case 'unary':
    case 'wrapped':
      return operands.slice(0, 1);
    case 'call':
      return KEEPS_COUNTER.test(expression.name) ? operands : [];
    case 'aggregate':
      return ['count', 'count_values', 'group'].includes(expression.name) ? [] : operands;
    case 'binary':
      return binaryOperands(expression, expressions);
    default:
      return expression satisfies never;
  }
}

/**
 * Returns the operands of a binary operator that make the result increase when they increase. A difference or quotient
 * of counters has none, because it may be a queue length or an average.
 */
function binaryOperands(
  { operator, isBool, operands }: ExpressionOf<'binary'>,
  expressions: readonly Expression[],
): readonly number[] {
  switch (operator) {
    case '+':
    case '*':
    case 'or':
      return operands;
    case '-':
    case '/':
      return unwrap(expressions, operands[1])?.form === 'number' ? operands.slice(0, 1) : [];
    case '%':
    case '^':
      return [];
    default:
      return isBool ? [] : operands.slice(0, 1);
  }
}
