import { analyzeQuery } from './analyze.js';
import { type Expression, type ExpressionOf, unwrap } from './expressions.js';

/**
 * What a value measures.
 * - `ratio`: a share of a whole.
 * - `latency`: the duration of single requests.
 * - `waiting`: requests that wait in the pods.
 * - `load`: work per second, or requests in progress.
 * - `replicas`: a number of pods.
 * - `duration`: the total duration of all requests, as a counter.
 * - `number`: a constant.
 * - `unknown`: anything else.
 */
export type MeasureKind =
  'ratio' | 'latency' | 'waiting' | 'load' | 'replicas' | 'duration' | 'number' | 'unknown';

/** What a query measures, as far as its names and operators show. */
export interface Measure {
  readonly kind: MeasureKind;
  /**
   * `series`: one value per pod or other part. `total`: a sum, which grows with the pods. `one`: a single value that
   * does not grow with the pods.
   */
  readonly form: 'series' | 'total' | 'one';
  /** The largest value that a series can have; null: it is unknown or has no limit. */
  readonly most: number | null;
  /** The name of the first metric that determines the kind. */
  readonly metric: string;
}

const UNKNOWN: Measure = { kind: 'unknown', form: 'series', most: null, metric: '' };

/**
 * Patterns of metric names, and what these metrics measure. `vllm:` may also be `vllm_`, as in systems that allow no
 * colon.
 */
const KINDS: readonly (readonly [RegExp, Pick<Measure, 'kind'> & Partial<Measure>])[] = [
  // The values are from 0 to 1, although the names say percent.
  [/^(?:vllm[:_])?(?:gpu|cpu|kv)_cache_usage_perc$/, { kind: 'ratio', most: 1 }],
  [/^dynamo_component_kvstats_gpu_cache_usage_percent$/, { kind: 'ratio', most: 1 }],
  [/^sglang[:_]token_usage$/, { kind: 'ratio', most: 1 }],
  [/^nv_gpu_utilization$/, { kind: 'ratio', most: 1 }],
  [/^DCGM_FI_PROF_(?:GR_ENGINE|SM|PIPE_\w+|DRAM)_ACTIVE$/, { kind: 'ratio', most: 1 }],
  [/^DCGM_FI_DEV_(?:GPU|MEM_COPY)_UTIL$/, { kind: 'ratio', most: 100 }],
  [/^(?:nvidia_gpu|kubernetes_io:(?:container|node)_accelerator)_duty_cycle$/, { kind: 'ratio', most: 100 }],
  [/^inference_pool_average_kv_cache_utilization$/, { kind: 'ratio', most: 1, form: 'one' }],
  [/_(?:ratio|utilization|percent|percentage|usage_perc)$/i, { kind: 'ratio' }],
  [/^vllm[:_]num_requests_waiting$/, { kind: 'waiting' }],
  [/^sglang[:_]num_queue_reqs$/, { kind: 'waiting' }],
  [/^tgi_queue_size$/, { kind: 'waiting' }],
  [/^nv_inference_pending_request_count$/, { kind: 'waiting' }],
  [/^dynamo_frontend_queued_requests$/, { kind: 'waiting' }],
  [/^ray_serve_deployment_queued_queries$/, { kind: 'waiting' }],
  [/^inference_pool_per_pod_queue_size$/, { kind: 'waiting' }],
  [/^inference_pool_average_queue_size$/, { kind: 'waiting', form: 'one' }],
  [/^vllm[:_]num_requests_running$/, { kind: 'load' }],
  [/^sglang[:_]num_running_reqs$/, { kind: 'load' }],
  [/^tgi_batch_current_size$/, { kind: 'load' }],
  [/^dynamo_(?:frontend|component)_inflight_requests$/, { kind: 'load' }],
  [/^ray_serve_(?:replica|deployment)_processing_queries$/, { kind: 'load' }],
  [/^inference_(?:model|objective)_running_requests$/, { kind: 'load' }],
  [
    /^kube_(?:deployment|statefulset|replicaset)_(?:spec|status)_replicas/,
    { kind: 'replicas', form: 'total' },
  ],
  [/_(?:seconds|milliseconds|ms)_sum$|^nv_inference_\w+_duration_us$/, { kind: 'duration' }],
];

/** Gauges of a current state. `rate` must not be applied to them: the result would be the speed of their change. */
const GAUGE =
  /(?:^|_)(?:queue_(?:depth|size|length)|(?:requests|messages)_(?:waiting|running|pending|ready|unacked)|(?:pending|queued|inflight)_requests)$/;

const KEEPS =
  /^(?:(?:avg|max|min|last|quantile|first|median)_over_time|clamp(?:_max|_min)?|abs|ceil|floor|round|label_join|label_replace|scalar|vector|sort(?:_desc)?|keep_last_value)$/;
const RATES: ReadonlySet<string> = new Set(['rate', 'irate', 'increase', 'deriv', 'delta', 'idelta']);

/** Returns what a valid query measures; in doubt, its kind is `unknown`. */
export function measureOf(query: string): Measure {
  const facts = analyzeQuery(query);
  if (facts === null || facts.problems.length > 0 || facts.type !== 'vector') return UNKNOWN;
  const { expressions } = facts;
  const measures: Measure[] = [];
  for (const expression of expressions) measures.push(measure(expression, measures, expressions));
  return measures.at(-1) ?? UNKNOWN;
}

/** Returns the first gauge (see `GAUGE`) to which a query applies `rate`, with its offset; null: there is none. */
export function rateOfGauge(query: string): { readonly metric: string; readonly from: number } | null {
  const expressions = analyzeQuery(query)?.expressions ?? [];
  for (const expression of expressions) {
    if (expression.form !== 'call' || !/^(?:rate|irate|increase)$/.test(expression.name)) continue;
    const range = unwrap(expressions, expression.operands[0]);
    const selector = range?.form === 'range' ? unwrap(expressions, range.operands[0]) : undefined;
    if (selector?.form !== 'selector' || selector.metric === null) continue;
    const { metric, from } = selector;
    const { kind } = ofSelector(metric, []);
    if (GAUGE.test(metric) || ['ratio', 'waiting', 'load'].includes(kind)) return { metric, from };
  }
  return null;
}

function measure(
  expression: Expression,
  measures: readonly Measure[],
  expressions: readonly Expression[],
): Measure {
  const [first = UNKNOWN, second = UNKNOWN] = expression.operands.map((index) => measures[index] ?? UNKNOWN);
  switch (expression.form) {
    case 'number':
      return { ...UNKNOWN, kind: 'number', most: Number(expression.text) };
    case 'selector':
      return ofSelector(expression.metric ?? '', expression.matchers);
    case 'range':
    case 'subquery':
    case 'wrapped':
    case 'unary':
      return first;
    case 'call':
      return ofCall(expression.name, { first, second, last: measures[expression.operands.at(-1) ?? -1] });
    case 'aggregate':
      return ofAggregate(expression, measures[expression.operands.at(-1) ?? -1] ?? UNKNOWN, expressions);
    case 'binary':
      return ofBinary(expression.operator, first, second, namesOf(expression, expressions));
    case 'string':
      return UNKNOWN;
    default:
      return expression satisfies never;
  }
}

function ofSelector(metric: string, matchers: readonly { readonly label: string }[]): Measure {
  // The label `quantile` shows that the metric is a summary.
  if (matchers.some(({ label }) => label === 'quantile') && isDuration(metric))
    return { ...UNKNOWN, kind: 'latency', metric };
  const found = KINDS.find(([pattern]) => pattern.test(metric))?.[1];
  return { ...UNKNOWN, ...found, metric };
}

function isDuration(metric: string): boolean {
  return /seconds|duration|latency|(?:^|_)(?:ms|us|milliseconds|microseconds|time)(?:_|$)/i.test(metric);
}

function ofCall(
  name: string,
  {
    first,
    second,
    last = UNKNOWN,
  }: { readonly first: Measure; readonly second: Measure; readonly last?: Measure | undefined },
): Measure {
  if (RATES.has(name)) {
    if (first.kind === 'duration') return first;
    return /_bucket$/.test(first.metric)
      ? { ...UNKNOWN, metric: first.metric }
      : { ...UNKNOWN, kind: 'load', metric: first.metric };
  }
  if (name === 'histogram_quantile') {
    const { metric, form } = last;
    const kind = isDuration(metric) ? 'latency' : 'unknown';
    return { ...UNKNOWN, kind, form: form === 'total' ? 'one' : form, metric };
  }
  if (!KEEPS.test(name)) return UNKNOWN;
  if (name === 'quantile_over_time') return last;
  return name === 'clamp_max' && second.kind === 'number' ? { ...first, most: second.most } : first;
}

function ofAggregate(
  { name, grouping }: ExpressionOf<'aggregate'>,
  operand: Measure,
  expressions: readonly Expression[],
): Measure {
  const isSingle = (label: string): boolean => label === 'le' || isFixed(label, expressions);
  const isOne = grouping === null || (grouping.kind === 'by' && grouping.labels.every(isSingle));
  switch (name) {
    case 'sum':
      return { ...operand, form: isOne && operand.form !== 'one' ? 'total' : operand.form };
    case 'avg':
    case 'max':
    case 'min':
    case 'quantile':
    case 'median':
      // Other kinds keep their form: if several exporters report the same queue, the maximum or average of their totals
      // is still a total.
      return { ...operand, form: isOne && isOfEachPod(operand, name) ? 'one' : operand.form };
    default:
      return UNKNOWN;
  }
}

/** Returns whether every selector of the query has a matcher `label="..."`, as in queries of prometheus-adapter. */
function isFixed(label: string, expressions: readonly Expression[]): boolean {
  return expressions.every(
    (one) =>
      one.form !== 'selector' ||
      one.matchers.some((matcher) => matcher.label === label && matcher.operator === '='),
  );
}

function isOfEachPod({ kind }: Measure, aggregation: string): boolean {
  if (['ratio', 'latency', 'waiting'].includes(kind)) return true;
  return ['load', 'duration'].includes(kind) && aggregation === 'avg';
}

function ofBinary(
  operator: string,
  left: Measure,
  right: Measure,
  names: readonly [string, string],
): Measure {
  switch (operator) {
    case '/':
      return quotient(left, right, names);
    case '*':
      return left.kind === 'number'
        ? scaled(right, left.most)
        : scaled(left, right.kind === 'number' ? right.most : null);
    case '+':
      return sum(left, right);
    case '-':
      // The operation is 1 minus the share of time in which cores are idle, or the complement of another ratio.
      if (left.kind === 'number')
        return right.kind === 'ratio' || (right.form === 'one' && CPU_TIME.test(right.metric))
          ? { ...right, kind: 'ratio', most: left.most }
          : UNKNOWN;
      return right.kind === 'number' ? left : UNKNOWN;
    case '%':
    case '^':
    case 'atan2':
      return UNKNOWN;
    default:
      return left;
  }
}

/** Returns a measure multiplied by `factor`; null: only the server knows the factor. */
function scaled(measure: Measure, factor: number | null): Measure {
  const most = measure.most === null || factor === null ? null : measure.most * factor;
  return { ...measure, most };
}

/** Returns what a sum measures. Waiting requests plus requests in progress are the load. */
function sum(left: Measure, right: Measure): Measure {
  if (right.kind === 'number') return { ...left, most: null };
  const kinds = [left.kind, right.kind];
  if (kinds.every((kind) => kind === 'waiting' || kind === 'load'))
    return { ...left, kind: kinds.includes('load') ? 'load' : 'waiting', most: null };
  return left.kind === right.kind ? { ...left, most: null } : UNKNOWN;
}

const CPU_TIME = /cpu_seconds_total$/;
const PART = /(?:^|_)(?:used|usage|free|available|allocated|active)(?:_|$)|working_set/i;
const WHOLE = /(?:^|_)(?:limits?|capacity|total|max|size|requests)(?:_|$)|MemTotal/i;

function quotient(left: Measure, right: Measure, [part, whole]: readonly [string, string]): Measure {
  if (right.kind === 'number') return scaled(left, right.most === null ? null : 1 / right.most);
  const form = left.form === 'total' ? 'one' : left.form;
  if (right.kind === 'replicas')
    return { ...left, kind: left.kind === 'unknown' ? 'load' : left.kind, form: 'one', most: null };
  if (left.kind === 'duration' && ['load', 'duration'].includes(right.kind))
    return { ...left, kind: 'latency', form, most: null };
  // The quotient is a share, such as failed requests divided by all requests.
  if (left.kind === 'load' && right.kind === 'load' && left.metric === right.metric && form === 'one')
    return { ...left, kind: 'ratio', form, most: null };
  if (left.kind === 'unknown' && right.kind === 'unknown' && PART.test(part) && WHOLE.test(whole))
    return { ...left, kind: 'ratio', form, most: null, metric: part };
  return UNKNOWN;
}

/** Returns for each operand the name of its only metric; empty: the operand has none, or several. */
function namesOf({ operands }: Expression, expressions: readonly Expression[]): readonly [string, string] {
  const [left = '', right = ''] = operands.map((operand) => nameOf(operand, expressions));
  return [left, right];
}

function nameOf(index: number, expressions: readonly Expression[]): string {
  const inner = unwrap(expressions, index);
  if (inner?.form === 'selector') return inner.metric ?? '';
  const operand = inner?.form === 'aggregate' ? inner.operands.at(-1) : undefined;
  return operand === undefined ? '' : nameOf(operand, expressions);
}
