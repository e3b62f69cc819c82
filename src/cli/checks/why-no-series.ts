import { stringLiteral } from '../../promql/quoting.js';
import {
  type LabelMatcher,
  type VectorSelector,
  labelText,
  metricText,
  vectorSelectors,
  withoutMatcher,
} from '../../promql/vector-selectors.js';
import { variablesOf } from '../../prometheus/queries/compile-queries.js';
import { nearest } from '../../scaler/problems/nearest.js';
import type { MetricSpec, Scaler } from '../../scaler/spec.js';
import type { SourceContext } from './context.js';
import { labelValues, onlyValue, answeredLabels } from './check-result.js';
import { namesOf } from './resource-labels.js';
import { listSome } from '../../units/format.js';

export interface NoSeriesReason {
  /**
   * `selector`: a selector has matched no sample for an hour, which is usually a mistake. `outcome`: a selector has
   * matched no sample either, but selects an outcome such as `code=~"5.."`, whose series begins when it occurs first.
   * `other`: the series have ended, or an operator or function removes them, which may be intended.
   */
  readonly cause: 'selector' | 'outcome' | 'other';
  readonly message: string;
  readonly fix: string;
}

/** The metric whose query is examined, with its scaler and its data source. */
interface Querier {
  readonly metric: MetricSpec;
  readonly scaler: Scaler;
  readonly context: Pick<SourceContext, 'runQuery'>;
}

/** Limit the selectors and matchers that are tested, because each test is a query. */
const MAX_SELECTORS = 6;
const MAX_MATCHERS = 8;

/**
 * Finds the part of a query that removes all series: a metric that does not exist, a matcher, an operator or a
 * function. Returns null if the query has no selectors.
 */
export async function whyNoSeries(query: string, own: Querier): Promise<NoSeriesReason | null> {
  const selectors = vectorSelectors(query).slice(0, MAX_SELECTORS);
  for (const selector of selectors) {
    const why = await explainSelector(selector, own);
    if (why !== null) return why;
  }
  const [first, second] = selectors;
  if (first === undefined) return null;
  if (second !== undefined)
    return {
      cause: 'other',
      message: 'each selector matches series, but the operators between the selectors remove all series',
      fix: `compare the labels on both sides of the operator (on (...), ignoring (...)): ${query}`,
    };
  const { text, range } = first;
  // A gap that has ended meanwhile. Otherwise, the answer would blame a function that the query may not have.
  if (await hasSeries(own, query))
    return {
      cause: 'other',
      message: 'the query had no series a moment ago, but has series again',
      fix: `run this command again; if the query often has no series, see Status > Targets of Prometheus: ${query}`,
    };
  if (range === null)
    return {
      cause: 'other',
      message: `${text} matches series, but a comparison or function removes all of them`,
      fix: `run this query in the Prometheus UI after removing the comparison or function: ${query}`,
    };
  return (await hasSeries(own, `${text} offset ${range}`))
    ? {
        cause: 'other',
        message: `${text} matches series, but these series have too few samples in [${range}], or a comparison removes all of them`,
        fix: `see the result of the check \`query-window\`, or make the range longer: ${query}`,
      }
    : {
        cause: 'other',
        message: `${text} matches only series that are younger than [${range}] and may have only one sample so far, or a comparison removes all of them`,
        fix: `try again after two more scrapes; then see the result of the check \`query-window\`: ${query}`,
      };
}

async function explainSelector(selector: VectorSelector, own: Querier): Promise<NoSeriesReason | null> {
  const { text, metric, matchers } = selector;
  const range = selector.range ?? '5m';
  if (await hasSeries(own, text)) return null;
  if (await hasSeries(own, `last_over_time(${text}[1h])`))
    return {
      cause: 'other',
      message: `${text} had samples in the last hour, but has no samples now`,
      fix: 'check Status > Targets of Prometheus: the target is down, or the pods that exposed the metric are gone',
    };
  if (metric !== null && !(await hasSeries(own, `last_over_time(${metricText(metric)}[${range}])`)))
    return explainMissingMetric(metric, own);
  for (const matcher of matchers.slice(0, MAX_MATCHERS)) {
    const rest = withoutMatcher(selector, matcher);
    if (metric === null && matchers.length === 1) return null;
    if (!(await hasSeries(own, rest))) continue;
    return explainMatcher(matcher, rest, own);
  }
  const message = `${text} matches no series, even without any one of its matchers`;
  if (metric === null)
    return {
      cause: 'selector',
      message,
      fix: 'correct the matchers, or check Status > Targets of Prometheus',
    };
  const names = await readLabelNames(own, metricText(metric));
  const absent = matchers.filter(({ label }) => !names.includes(label));
  const notPromoted = absent.length === 0 ? null : await explainAttributes(absent, own);
  if (notPromoted !== null) return notPromoted;
  const unknown = absent.map(({ label }) => label);
  return {
    cause: 'selector',
    message: `${message}${unknown.length === 0 ? '' : `; ${metric} has no label ${listSome(unknown)}`}`,
    fix: `use matchers for the labels of ${metric}: ${listSome(names, 12)}`,
  };
}

/** `rest`: the selector without the matcher. */
async function explainMatcher(matcher: LabelMatcher, rest: string, own: Querier): Promise<NoSeriesReason> {
  const { label, text } = matcher;
  const values = labelValues(await own.context.runQuery(`group by (${labelText(label)}) (${rest})`), label);
  if (values.length > 0 && looksLikeRegex(matcher)) {
    const operator = matcher.operator === '=' ? '=~' : '!~';
    return {
      cause: 'selector',
      message: `the matcher ${text} compares a regular expression as a string; the values of ${label} are ${listSome(values)}`,
      fix: `use the operator ${operator}: ${labelText(label)}${operator}${valueText(matcher.value, own)}`,
    };
  }
  if (values.length > 0)
    return {
      cause: isOutcome(matcher, values) ? 'outcome' : 'selector',
      message: `the matcher ${text} removes all series; without this matcher, ${label} is ${listSome(values)}`,
      fix: fixForMatcher(matcher, values, own),
    };
  const names = await readLabelNames(own, rest);
  const notPromoted = await explainAttributes([matcher], own);
  if (notPromoted !== null) return notPromoted;
  const wanted = names.find((name) => name.includes(label) || label.includes(name)) ?? nearest(label, names);
  return {
    cause: 'selector',
    message: `the matcher ${text} removes all series, because they have no label ${label}; their labels are ${listSome(names, 12)}`,
    fix:
      wanted == null
        ? 'use a matcher for one of these labels, or remove the matcher'
        : `${labelText(wanted)}${matcher.operator}${valueText(matcher.value, own)}`,
  };
}

/**
 * Returns the fix for a matcher that removes all series. The fix contains a value only if the value belongs to this
 * workload or corrects a typo, because any other value may belong to another workload.
 */
function fixForMatcher(
  { label, operator, value, text }: LabelMatcher,
  values: readonly string[],
  { metric, scaler }: Querier,
): string {
  if (operator.startsWith('!')) return `remove the matcher ${text}`;
  const { namespace, name, pods } = variablesOf(scaler);
  const kind = namesOf(label);
  const isOfPods = metric.type === 'Pods';
  if (kind === 'pod' && isOfPods) {
    const isOwn = new RegExp(`^(?:${pods})$`);
    return values.some((one) => isOwn.test(one)) ? `${labelText(label)}=~"$pods"` : NOT_SCRAPED;
  }
  if (kind === 'namespace' && (isOfPods || nearest(value, values) === namespace))
    return values.includes(namespace) ? `${labelText(label)}="$namespace"` : NOT_SCRAPED;
  if ([namespace, name, pods].includes(value)) return NOT_SCRAPED;
  const near =
    nearest(
      value,
      [name].filter((one) => values.includes(one)),
    ) ?? nearest(value, values);
  return near === null
    ? `use the value of ${label} that belongs to this workload`
    : `${labelText(label)}=${stringLiteral(near)}`;
}

const NOT_SCRAPED =
  'no series belongs to this workload: check Status > Targets of Prometheus for its pods, and the labels of the series';

/**
 * Returns a value as a string literal. If a variable of the document has the same value, returns the variable instead.
 */
function valueText(value: string, { scaler }: Querier): string {
  const { namespace, pods } = variablesOf(scaler);
  if (value === pods) return '"$pods"';
  return value === namespace ? '"$namespace"' : stringLiteral(value);
}

/** Returns the reason if the series lack labels that `target_info` has; otherwise null. */
async function explainAttributes(
  matchers: readonly LabelMatcher[],
  own: Querier,
): Promise<NoSeriesReason | null> {
  const info = await readLabelNames(own, 'target_info');
  const found = matchers.filter(({ label }) => info.includes(label));
  if (found.length === 0) return null;
  const labels = found.map(({ label }) => label).join(', ');
  // The conversion is exact, because attributes that name Kubernetes objects contain no underscores.
  const attributes = found.map(({ label }) => label.replaceAll('_', '.')).join(', ');
  const join = `* on (job, instance) group_left (${labels}) target_info{${found.map(({ text }) => text).join(', ')}}`;
  return {
    cause: 'selector',
    message: `the series lack ${labels}, which only target_info has, because these resource attributes of OpenTelemetry are not promoted to labels`,
    fix: `otlp.promote_resource_attributes: [${attributes}] in the config of Prometheus; or remove the matcher, and append ${join}`,
  };
}

const STATUS = /^\d+(?:xx)?$/i;
const FAILURE = /error|exception|fail|timeout/i;

/** Returns whether a matcher for a label with these values may select an outcome that has not occurred yet. */
function isOutcome({ operator, value }: LabelMatcher, values: readonly string[]): boolean {
  return operator.startsWith('!') || FAILURE.test(value) || values.every((one) => STATUS.test(one));
}

const REGEX = /\.[*+]|\[[^[\]]+\]|\\\.|\|/;

function looksLikeRegex({ operator, value }: LabelMatcher): boolean {
  return (operator === '=' || operator === '!=') && REGEX.test(value);
}

async function explainMissingMetric(metric: string, { context }: Querier): Promise<NoSeriesReason> {
  const words = metric.split('_');
  const stem = words.slice(0, Math.max(1, Math.min(2, words.length - 1))).join('_');
  const pattern = stringLiteral(`${stem}.*`);
  const names = labelValues(
    await context.runQuery(`group by (__name__) ({__name__=~${pattern}})`),
    '__name__',
  );
  const near = nearest(metric, names);
  const similar = names.length === 0 ? '' : `; similar metrics are ${listSome(names)}`;
  return {
    cause: 'selector',
    message: `Prometheus has no metric ${metric}${near === null ? similar : ''}`,
    fix:
      near === null
        ? 'correct the name of the metric, or scrape its exporter (check Status > Targets of Prometheus)'
        : `use ${near} instead`,
  };
}

async function readLabelNames({ context }: Querier, selector: string): Promise<readonly string[]> {
  return answeredLabels(await context.runQuery(`topk(20, ${selector})`));
}

async function hasSeries({ context }: Querier, expression: string): Promise<boolean> {
  return onlyValue(await context.runQuery(`count(${expression})`)) !== null;
}
