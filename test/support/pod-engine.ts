import type { HttpAnswer } from '../../src/prometheus/answers/classify.js';
import { T0 } from './builders.js';
import type { Call, Matching, Operator, PodQuery, PodsSeries } from './pod-queries.js';

/* The queries of pod-queries.ts as Prometheus 3 evaluates them, as far as classes of answers depend on it. */

type Labels = Readonly<Record<string, string>>;
/** `histogram`: a native histogram; `both`: the range of the series has numbers and histograms. */
type Value = number | 'histogram';

interface Element {
  readonly labels: Labels;
  readonly value: Value;
}

class EvaluationError extends Error {}

const STEPS = 20;

/** Returns the answer of the HTTP API to a query for the pods that match a pattern. */
export function evaluate(query: PodQuery, series: readonly PodsSeries[], pattern: string): HttpAnswer {
  const matches = new RegExp(`^(?:${pattern})$`);
  const warnings = new Set<string>();
  try {
    const vector = evaluateIn(query, {
      series: series.filter(({ labels }) => matches.test(labels['pod'] ?? '')),
      warnings,
    });
    checkDistinct(vector);
    const result = vector.map(({ labels, value }) =>
      value === 'histogram'
        ? { metric: labels, histogram: [T0 / 1000, { count: '1', sum: '1' }] }
        : { metric: labels, value: [T0 / 1000, sampleText(value)] },
    );
    const body = { status: 'success', data: { resultType: 'vector', result }, warnings: [...warnings] };
    return { status: 200, contentType: 'application/json', body: JSON.stringify(body) };
  } catch (error) {
    if (!(error instanceof EvaluationError)) throw error;
    const body = { status: 'error', errorType: 'execution', error: error.message };
    return { status: 422, contentType: 'application/json', body: JSON.stringify(body) };
  }
}

interface Context {
  readonly series: readonly PodsSeries[];
  readonly warnings: Set<string>;
}

function evaluateIn(query: PodQuery, context: Context): readonly Element[] {
  switch (query.form) {
    case 'selector':
      return ofMetric(query.metric, context).map(({ labels, kind, step }) => ({
        labels,
        value: kind === 'numbers' ? step * STEPS : 'histogram',
      }));
    case 'range':
      return range(query, context);
    case 'aggregate':
      return aggregate(query, evaluateIn(query.of, context), context);
    case 'call':
      return call(query.name, evaluateIn(query.of, context), context);
    case 'binary': {
      const [left, right] = [evaluateIn(query.left, context), evaluateIn(query.right, context)];
      return isSetOperator(query.operator) ? combine(query, left, right) : calculate(query, left, right);
    }
    default:
      return query satisfies never;
  }
}

function ofMetric(metric: string, { series }: Context): readonly PodsSeries[] {
  return series.filter(({ labels }) => labels['__name__'] === metric);
}

function range(query: Extract<PodQuery, { readonly form: 'range' }>, context: Context): readonly Element[] {
  const { name } = query;
  const elements = ofMetric(query.metric, context).flatMap(({ labels, kind, step }): readonly Element[] => {
    if (name === 'rate') {
      if (kind === 'mixed')
        context.warnings.add('PromQL warning: encountered a mix of histograms and floats');
      return kind === 'mixed' ? [] : [{ labels, value: kind === 'numbers' ? step / 15 : 'histogram' }];
    }
    if (name === 'last_over_time')
      return [{ labels, value: kind === 'numbers' ? step * STEPS : 'histogram' }];
    return kind === 'histograms' ? [] : [{ labels, value: step * STEPS }];
  });
  return checkDistinct(name === 'last_over_time' ? elements : elements.map(withoutName));
}

function aggregate(
  { name, by }: Extract<PodQuery, { readonly form: 'aggregate' }>,
  elements: readonly Element[],
  { warnings }: Context,
): readonly Element[] {
  const groups = groupBy(elements, ({ labels }) => keyOf(grouped(labels, by)));
  if (name === 'quantile(2' && elements.length > 0)
    warnings.add('PromQL warning: quantile value should be between 0 and 1, got 2');
  return Array.from(groups.values()).flatMap((group): readonly Element[] => {
    const [first] = group;
    if (first === undefined) return [];
    const labels = grouped(first.labels, by);
    const values = group.map(({ value }) => value);
    if (name === 'count') return [{ labels, value: values.length }];
    if (name === 'group') return [{ labels, value: 1 }];
    const numbers = values.filter((value) => value !== 'histogram');
    if (name === 'sum' || name === 'avg') {
      if (numbers.length === 0) return [{ labels, value: 'histogram' }];
      if (numbers.length < values.length) {
        warnings.add('PromQL warning: encountered a mix of histograms and floats for aggregation');
        return [];
      }
      const sum = numbers.reduce((total, number) => total + number, 0);
      return [{ labels, value: name === 'sum' ? sum : sum / numbers.length }];
    }
    if (numbers.length === 0) return [];
    if (name === 'quantile(2') return [{ labels, value: Infinity }];
    const sorted = numbers.toSorted((one, other) => one - other);
    return [
      { labels, value: (name === 'max' ? sorted.at(-1) : sorted[Math.floor(sorted.length / 2)]) ?? NaN },
    ];
  });
}

function call(name: Call, elements: readonly Element[], { warnings }: Context): readonly Element[] {
  if (name === 'histogram_quantile') return quantiles(elements, warnings);
  const called = elements.flatMap(({ labels, value }): readonly Element[] => {
    if (name === 'histogram_count') return value === 'histogram' ? [{ labels, value: 1 }] : [];
    if (value === 'histogram') return name === '-' || name === '/ 7' ? [{ labels, value }] : [];
    if (name === '-') return [{ labels, value: -value }];
    if (name === '/ 7') return [{ labels, value: value / 7 }];
    if (name === 'clamp_min') return [{ labels, value: Math.max(3, value) }];
    return value > 5 ? [{ labels, value }] : [];
  });
  return name === '> 5' ? called : checkDistinct(called.map(withoutName));
}

function quantiles(elements: readonly Element[], warnings: Set<string>): readonly Element[] {
  const classic = elements.filter(({ value }) => value !== 'histogram');
  const buckets = classic.filter(({ labels }) => /^(?:\d+|\+Inf)$/.test(labels['le'] ?? ''));
  if (buckets.length < classic.length)
    warnings.add('PromQL warning: bucket label "le" is missing or malformed');
  const groups = groupBy(buckets, ({ labels }) => keyOf(without(labels, '__name__', 'le')));
  const ofBuckets = Array.from(groups.values(), ([first]) => ({
    labels: without(first?.labels ?? {}, '__name__', 'le'),
    value: 4.5,
  }));
  const native = elements.filter(({ value }) => value === 'histogram');
  const ofNative = native.map(({ labels }) => ({ labels: without(labels, '__name__'), value: 0 }));
  return checkDistinct([...ofBuckets, ...ofNative]);
}

function isSetOperator(operator: Operator): boolean {
  return operator === 'and' || operator === 'or' || operator === 'unless';
}

type Binary = Extract<PodQuery, { readonly form: 'binary' }>;

function combine(
  { operator, on }: Binary,
  left: readonly Element[],
  right: readonly Element[],
): readonly Element[] {
  const keysOf = (elements: readonly Element[]): ReadonlySet<string> =>
    new Set(elements.map(({ labels }) => matchKey(labels, on)));
  const [inLeft, inRight] = [keysOf(left), keysOf(right)];
  if (operator === 'or') return [...left, ...right.filter(({ labels }) => !inLeft.has(matchKey(labels, on)))];
  return left.filter(({ labels }) => inRight.has(matchKey(labels, on)) === (operator === 'and'));
}

/** As VectorBinop of Prometheus: nothing is compared, and no error is reported, if one side is empty. */
function calculate(query: Binary, left: readonly Element[], right: readonly Element[]): readonly Element[] {
  if (left.length === 0 || right.length === 0) return [];
  const { operator, on } = query;
  const isGrouped = on.endsWith('group_left ()');
  const rights = new Map<string, Element>();
  for (const element of right) {
    const key = matchKey(element.labels, on);
    if (rights.has(key)) throw new EvaluationError(`found duplicate series for the match group ${key}`);
    rights.set(key, element);
  }
  const matched = new Set<string>();
  const results: Element[] = [];
  for (const { labels, value } of left) {
    const key = matchKey(labels, on);
    const other = rights.get(key);
    if (other === undefined) continue;
    const result = compute(operator, value, other.value);
    if (result === null) continue;
    const kept = operator === '>' ? labels : without(labels, '__name__');
    const own = isGrouped || on === '' ? kept : { pod: labels['pod'] ?? '' };
    const resultKey = isGrouped ? keyOf(own) : key;
    if (matched.has(resultKey)) throw new EvaluationError(`multiple matches for labels ${key}`);
    matched.add(resultKey);
    results.push({ labels: own, value: result });
  }
  return results;
}

function compute(operator: Operator, left: Value, right: Value): Value | null {
  if (left === 'histogram') {
    if (operator === '/' && right !== 'histogram') return left;
    return operator === '+' && right === 'histogram' ? left : null;
  }
  if (right === 'histogram') return null;
  if (operator === '/') return left / right;
  if (operator === '+') return left + right;
  return left > right ? left : null;
}

function matchKey(labels: Labels, on: Matching): string {
  return on === '' ? keyOf(without(labels, '__name__')) : (labels['pod'] ?? '');
}

function grouped(labels: Labels, by: string): Labels {
  if (by === 'without (container)') return without(labels, '__name__', 'container');
  const names = by === 'by (pod)' ? ['pod'] : ['le', 'pod'];
  return Object.fromEntries(Object.entries(labels).filter(([name]) => names.includes(name)));
}

function without(labels: Labels, ...names: readonly string[]): Labels {
  return Object.fromEntries(Object.entries(labels).filter(([name]) => !names.includes(name)));
}

function withoutName({ labels, value }: Element): Element {
  return { labels: without(labels, '__name__'), value };
}

function keyOf(labels: Labels): string {
  return JSON.stringify(Object.entries(labels).toSorted());
}

function groupBy(
  elements: readonly Element[],
  keyOfElement: (element: Element) => string,
): ReadonlyMap<string, readonly Element[]> {
  const groups = new Map<string, Element[]>();
  for (const element of elements) {
    const key = keyOfElement(element);
    groups.set(key, [...(groups.get(key) ?? []), element]);
  }
  return groups;
}

function checkDistinct(elements: readonly Element[]): readonly Element[] {
  if (new Set(elements.map(({ labels }) => keyOf(labels))).size < elements.length)
    throw new EvaluationError('vector cannot contain metrics with the same labelset');
  return elements;
}

function sampleText(value: number): string {
  return Number.isFinite(value)
    ? String(value)
    : String(value).replace('Infinity', 'Inf').replace(/^Inf/, '+Inf');
}
