import type { Answer, FailureReason, Series } from '../../../prometheus/answer.js';
import { labelOf } from '../../../prometheus/series-index.js';
import type { MetricSpec } from '../../../scaler/spec.js';
import { labelText } from '../../../promql/vector-selectors.js';
import { listSome } from '../inquiry.js';

/** What a limit of a server says when a query reaches it: Prometheus, VictoriaMetrics, Mimir, Cortex, Thanos. */
const LIMIT =
  /too many samples|exceed(?:s|ed)?\b.{0,80}\b(?:limit|maximum|max)|-search\.max|-query(?:\.|-)max|err-mimir-max|limit (?:violated|reached)|cannot select more than|number of matching timeseries exceeds/i;
const MANY_TO_MANY = /many-to-many|duplicate series for the match group|multiple matches for labels/i;

/** What to do about a query that the server refused; null where the message says it all. */
export function mendOfFailure(reason: FailureReason, message: string): string | null {
  if (reason === 'too_large')
    return 'add the series up in the query: sum(...), or sum by (pod) (...) for a Pods metric';
  if (reason === 'timeout')
    return 'make the query cheaper (more matchers, a recording rule), or raise timeoutSeconds of the data source and syncPeriodSeconds';
  if (LIMIT.test(message))
    return (
      'the query reads more than a limit of the server allows: add matchers such as namespace="$namespace", shorten its range, or take a recording rule; ' +
      'the limit is --query.max-samples of Prometheus, -search.max... of VictoriaMetrics, limits.max_fetched_series_per_query of Mimir'
    );
  if (MANY_TO_MANY.test(message))
    return 'aggregate the side with several series by the labels of on (...), or write group_left () for many on the left';
  return null;
}

type Answered = Extract<Answer, { readonly series: unknown }>;

/** What to do about an answer that is no sample: several series for one pod, a negative or infinite value; null: else. */
export function mendOfInvalid(
  metric: MetricSpec,
  answer: Answered,
  { error, source }: { readonly error: string; readonly source: string },
): string | null {
  if (/\bseries for pod\b/.test(error)) return mendOfTwins(metric, answer, source);
  if (error.includes('negative'))
    return 'where a negative value means none, such as a Kafka lag of -1, write clamp_min(..., 0) around the selector, within any sum(...)';
  if (error.includes('not finite')) return 'a division by zero? Guard the divisor: x / (y > 0)';
  return null;
}

/** Several series for one pod: the labels in which they differ say what to aggregate over. */
function mendOfTwins(metric: MetricSpec, answer: Answered, source: string): string {
  const isResource = metric.type === 'Resource' || metric.type === 'ContainerResource';
  const by = isResource ? ['namespace', 'pod', 'container'] : ['pod'];
  const differ = differingLabels(answer.series, by);
  const where = differ.length === 0 ? '' : `; they differ in ${listSome(differ.map(labelText), 4)}`;
  if (isResource)
    return `prometheus.${source}.resourceQueries.${metric.name}: begin it with "sum by (namespace, pod, container) (...)"${where}`;
  return `sum by (pod) (...) around the query, or max by (pod) (...) where they say the same twice${where}`;
}

/** The labels, other than those of `by`, in which two series with the same labels of `by` differ. */
function differingLabels(series: readonly Series[], by: readonly string[]): readonly string[] {
  const firsts = new Map<string, Series>();
  const found = new Set<string>();
  for (const one of series) {
    const key = JSON.stringify(by.map((label) => labelOf(one, label) ?? ''));
    const first = firsts.get(key);
    if (first === undefined) {
      firsts.set(key, one);
      continue;
    }
    for (const name of new Set([...Object.keys(one.labels), ...Object.keys(first.labels)]))
      if (labelOf(one, name) !== labelOf(first, name)) found.add(name);
  }
  return [...found].sort();
}
