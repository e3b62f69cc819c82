import { stringLiteral } from '../../../promql/quoting.js';
import {
  type LabelMatcher,
  type VectorSelector,
  labelText,
  metricText,
  vectorSelectors,
  withoutMatcher,
} from '../../../promql/vector-selectors.js';
import { nearest } from '../../../scaler/problems/nearest.js';
import { labelValues, listSome, onlyValue, type SourceInquiry } from '../inquiry.js';

export interface Why {
  readonly message: string;
  readonly mend: string;
}

type Ask = SourceInquiry['ask'];

/** Beyond so many selectors a query is left to its author. */
const MAX_SELECTORS = 6;
const MAX_MATCHERS = 8;

/**
 * Why a query gives no series: a metric is not there, a label matcher removes all, or what stands around them does.
 * Null for a query that selects nothing.
 */
export async function whyNoSeries(ask: Ask, query: string): Promise<Why | null> {
  const selectors = vectorSelectors(query).slice(0, MAX_SELECTORS);
  for (const selector of selectors) {
    const why = await whyNothing(ask, selector);
    if (why !== null) return why;
  }
  const [first, second] = selectors;
  if (first === undefined) return null;
  if (second !== undefined)
    return {
      message: 'each selector in it has series, but what joins or compares them leaves none',
      mend: `look at the labels on both sides of the operator (on (...), ignoring (...)): ${query}`,
    };
  return first.range === null
    ? {
        message: `${first.text} has series, but a comparison or function around it leaves none`,
        mend: `take it off and try again on the Prometheus page: ${query}`,
      }
    : {
        message: `${first.text} has series, but too few samples in [${first.range}], or none that pass`,
        mend: `see query-window, or make the range longer: ${query}`,
      };
}

async function whyNothing(ask: Ask, selector: VectorSelector): Promise<Why | null> {
  const { text, metric, matchers } = selector;
  const range = selector.range ?? '5m';
  if (await isThere(ask, text)) return null;
  if (await isThere(ask, `last_over_time(${text}[1h])`))
    return {
      message: `${text} had values in the last hour, but has none now`,
      mend: 'look at Status > Targets of Prometheus: its target is down, or the pods that told it are gone',
    };
  if (metric !== null && !(await isThere(ask, `last_over_time(${metricText(metric)}[${range}])`)))
    return noMetric(ask, metric);
  for (const matcher of matchers.slice(0, MAX_MATCHERS)) {
    const rest = withoutMatcher(selector, matcher);
    if (metric === null && matchers.length === 1) return null;
    if (!(await isThere(ask, rest))) continue;
    return oneMatcher(ask, rest, matcher);
  }
  const names = metric === null ? [] : await labelNames(ask, metricText(metric));
  const unknown = matchers.filter(({ label }) => !names.includes(label)).map(({ label }) => label);
  return {
    message: `${text} matches nothing, whichever single matcher is left out${unknown.length === 0 ? '' : `; there is no label ${listSome(unknown)}`}`,
    mend: `the labels of ${metric ?? 'that metric'} are ${listSome(names, 12)}: write matchers for these`,
  };
}

async function oneMatcher(ask: Ask, rest: string, matcher: LabelMatcher): Promise<Why> {
  const { label, text } = matcher;
  const values = labelValues(await ask(`group by (${labelText(label)}) (${rest})`), label);
  if (values.length > 0 && looksLikeRegex(matcher)) {
    const operator = matcher.operator === '=' ? '=~' : '!~';
    return {
      message: `the matcher ${text} compares the text of a regular expression; ${label} is ${listSome(values)}`,
      mend: `write ${operator} in it: ${labelText(label)}${operator}${stringLiteral(matcher.value)}`,
    };
  }
  if (values.length > 0) {
    const near = nearest(matcher.value, values);
    return {
      message: `the matcher ${text} leaves nothing; without it ${label} is ${listSome(values)}`,
      mend: `${labelText(label)}=${stringLiteral(near ?? values[0] ?? '')}`.concat(
        near === null ? ', or the one of these that is meant' : '',
      ),
    };
  }
  const names = await labelNames(ask, rest);
  const wanted = names.find((name) => name.includes(label) || label.includes(name)) ?? nearest(label, names);
  return {
    message: `the matcher ${text} leaves nothing: the series have no label ${label}, but ${listSome(names, 12)}`,
    mend:
      wanted == null
        ? 'write a matcher for one of these labels, or none'
        : `${labelText(wanted)}${matcher.operator}${stringLiteral(matcher.value)}`,
  };
}

const REGEX = /\.[*+]|\[[^[\]]+\]|\\\.|\|/;

function looksLikeRegex({ operator, value }: LabelMatcher): boolean {
  return (operator === '=' || operator === '!=') && REGEX.test(value);
}

async function noMetric(ask: Ask, metric: string): Promise<Why> {
  const words = metric.split('_');
  const stem = words.slice(0, Math.max(1, Math.min(2, words.length - 1))).join('_');
  const pattern = stringLiteral(`${stem}.*`);
  const names = labelValues(await ask(`group by (__name__) ({__name__=~${pattern}})`), '__name__');
  const near = nearest(metric, names);
  const there = names.length === 0 ? '' : `; there are ${listSome(names)}`;
  return {
    message: `Prometheus has no metric ${metric}${near === null ? there : ''}`,
    mend:
      near === null
        ? 'let Prometheus scrape what exports it (look at Status > Targets), or write the name as the exporter has it'
        : `write ${near} in its place`,
  };
}

async function labelNames(ask: Ask, selector: string): Promise<readonly string[]> {
  const answer = await ask(`topk(20, ${selector})`);
  if (answer.class !== 'value' && answer.class !== 'partial') return [];
  const names = new Set(answer.series.flatMap(({ labels }) => Object.keys(labels)));
  return [...names].filter((name) => name !== '__name__').sort();
}

async function isThere(ask: Ask, expression: string): Promise<boolean> {
  return onlyValue(await ask(`count(${expression})`)) !== null;
}
