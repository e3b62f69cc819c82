import type { Answer } from '../../prometheus/answers/answer.js';
import type { FailureReason } from '../../units/failure.js';
import { type Duplicates, isReplicaLabel } from '../../prometheus/queries/duplicates.js';
import { labelOf, type Series } from '../../prometheus/answers/columns.js';
import { isOfResource, type LabelSelector, type MetricSpec } from '../../scaler/spec.js';
import { analyzeQuery } from '../../promql/analyze.js';
import { ANY_LABELS, mayHave } from '../../promql/labels.js';
import { newerLiterals } from '../../promql/ranges.js';
import { stringLiteral } from '../../promql/quoting.js';
import { labelText } from '../../promql/vector-selectors.js';
import { listSome } from '../../units/format.js';
import { labelNames } from './check-result.js';
import { namesOf } from './resource-labels.js';

/** Matches errors about a limit that a query exceeds, of Prometheus, VictoriaMetrics, Mimir, Cortex and Thanos. */
const LIMIT =
  /too many samples|exceed(?:s|ed)?\b.{0,80}\b(?:limit|maximum|max)|-search\.max|-query(?:\.|-)max|err-mimir-max|limit (?:violated|reached)|cannot select more than|number of matching timeseries exceeds/i;
const MANY_TO_MANY = /many-to-many|duplicate series for the match group|multiple matches for labels/i;

/** Matches errors of Prometheus before 2.54 about literals that only later versions know. */
const LITERAL = /missing unit character in duration|expected duration|unexpected duration/;

/** Returns the fix for a query that the server rejected; null: the error message is sufficient. */
export function fixForFailure(reason: FailureReason, message: string, query: string): string | null {
  if (LITERAL.test(message)) {
    const literals = newerLiterals(query).map(({ write }) => write);
    if (literals.length > 0)
      return `write ${listSome(literals)}: Prometheus before 2.54 rejects the current query`;
  }
  if (reason === 'too_large')
    return 'aggregate the series in the query: sum(...), or sum by (pod) (...) for a Pods metric';
  if (reason === 'timeout')
    return 'make the query cheaper (more matchers, a recording rule), or increase timeoutSeconds of the data source and syncPeriodSeconds';
  if (LIMIT.test(message))
    return (
      'the query exceeds a limit of the server: add matchers such as namespace="$namespace", shorten the range, or use a recording rule; ' +
      'the limit is --query.max-samples of Prometheus, -search.max... of VictoriaMetrics, limits.max_fetched_series_per_query of Mimir'
    );
  if (MANY_TO_MANY.test(message))
    return 'aggregate the side with several series by the labels of on (...), or add group_left () if the left side has several series';
  return null;
}

/** Returns the fix for a query. `answer`: the failed answer; null: the query did not fail. */
export function fixForQuery(answer: Answer | null, query: string): string {
  const known = answer?.class === 'failed' ? fixForFailure(answer.reason, answer.message, query) : null;
  return known ?? `run the query in the Prometheus UI: ${query}`;
}

type Answered = Extract<Answer, { readonly series: unknown }>;

/** Returns the fix if a pod has several series, or a value is negative or infinite; otherwise null. */
export function fixForInvalid(
  metric: MetricSpec,
  answer: Answered,
  { error, source }: { readonly error: string; readonly source: string },
): string | null {
  if (/\bseries for pod\b/.test(error)) return fixForDuplicates(metric, answer, source);
  if (error.includes('negative'))
    return 'if a negative value means that there is no load, such as a Kafka lag of -1, wrap the selector in clamp_min(..., 0), inside any sum(...)';
  if (error.includes('not finite')) return 'if the query divides by zero, guard the divisor: x / (y > 0)';
  return null;
}

function fixForDuplicates(metric: MetricSpec, answer: Answered, source: string): string {
  const isResource = isOfResource(metric);
  const by = isResource ? ['namespace', 'pod', 'container'] : ['pod'];
  const differ = differingLabels(answer.series, by);
  const where = differ.length === 0 ? '' : `; the series differ in ${listSome(differ.map(labelText), 4)}`;
  if (isResource)
    return `prometheus.${source}.resourceQueries.${metric.name}: begin the query with "sum by (namespace, pod, container) (...)"${where}`;
  return differ.some(isReplicaLabel)
    ? `${countOnce(differ)} by (pod)${where}`
    : `wrap the query in sum by (pod) (...), or in max by (pod) (...) if the series are duplicates${where}`;
}

/**
 * Returns the fix for a query that counts the series of several Prometheus replicas. It does not select one replica,
 * because any of them may be down.
 */
export function countOnce(labels: readonly string[]): string {
  const replicas = labels.filter(isReplicaLabel).map(labelText).join(', ');
  return `count each series only once: wrap rate(...), or the selector of a gauge, in max without (${replicas}) (...), inside the sum`;
}

const AGGREGATE_COPIES = 'aggregate the duplicates with max by (...) before the sum';

/**
 * Returns the fix for duplicate series, usually a matcher for a label in which the copies differ. If a copy lacks the
 * label, the matcher excludes that copy.
 */
export function fixForCopies({ labels }: Duplicates): string {
  const [first] = labels;
  if (first === undefined) return AGGREGATE_COPIES;
  const { name, values } = first;
  if (isReplicaLabel(name))
    return (
      `${countOnce([name])}; or let the server deduplicate ` +
      `(Thanos: --query.replica-label=${name}, VictoriaMetrics: -dedup.minScrapeInterval, Mimir: HA tracker)`
    );
  if (isOfInstance(name) && !values.includes('')) return AGGREGATE_COPIES;
  const matcher = values.includes('') ? `${name}!=""` : `${name}=${stringLiteral(values[0] ?? '')}`;
  return `add ${matcher} to the matchers of the query, or remove one of the scrape jobs`;
}

/**
 * Returns the fix for several series if the metric needs a single series: an aggregation, or matchers that leave
 * exactly one series. A matcher for a label of an instance would select a single pod, which may be gone after the next
 * scale-down.
 */
export function fixForSeveral(series: readonly Series[], ownPods: readonly string[]): string {
  const differ = differingLabels(series, []);
  if (differ.some(isReplicaLabel)) return countOnce(differ);
  const aggregate = 'wrap the query in sum(...)';
  const isOfWorkload = series.some(({ labels }) =>
    Object.values(labels).some((value) => ownPods.includes(value)),
  );
  const matched = isOfWorkload
    ? []
    : labelsOfOne(
        series,
        differ.filter((name) => !isOfInstance(name)),
      );
  if (matched.length === 0) return aggregate;
  const labels = matched.map((name) => {
    const values = [...new Set(series.map((one) => labelOf(one, name) ?? ''))].sort();
    return `${labelText(name)} (${listSome(
      values.map((value) => (value === '' ? '""' : value)),
      4,
    )})`;
  });
  return `${aggregate}, or add ${labels.length === 1 ? 'a matcher' : 'matchers'} for ${labels.join(' and ')}`;
}

/** Returns labels whose values together identify each series, of which none can be omitted; empty: there are none. */
function labelsOfOne(series: readonly Series[], names: readonly string[]): readonly string[] {
  const areUnique = (by: readonly string[]): boolean => {
    const keys = series.map((one) => JSON.stringify(by.map((name) => labelOf(one, name) ?? '')));
    return new Set(keys).size === series.length;
  };
  if (!areUnique(names)) return [];
  return names.reduceRight<readonly string[]>((kept, name) => {
    const others = kept.filter((one) => one !== name);
    return areUnique(others) ? others : kept;
  }, names);
}

/** Returns whether the values of a label usually identify a pod or the address of a target. */
function isOfInstance(name: string): boolean {
  return namesOf(name) === 'pod' || INSTANCE.test(name);
}

const INSTANCE =
  /^(?:(?:exported_|service_)?instance(?:_id)?|(?:container_|pod_)?u?id|(?:pod_)?ip|node|host(?:name)?|address)$/;

/** Returns the fix for a selector that matches none of the series. */
export function fixForSelector(query: string, series: readonly Series[], selector: LabelSelector): string {
  const names = labelNames(series);
  const absent = selector.filter(
    ({ key, operator }) => (operator === 'In' || operator === 'Exists') && !names.includes(key),
  );
  const kept = analyzeQuery(query)?.labels ?? ANY_LABELS;
  const dropped = absent.filter(({ key }) => !mayHave(kept, key)).map(({ key }) => labelText(key));
  if (dropped.length > 0)
    return `keep the label ${listSome(dropped)} in the result of the query, as in by (${dropped.join(', ')})`;
  return `use ${absent.length > 0 ? 'labels of the series' : 'existing values'} in metric.selector; the series have ${describeNames(names)}`;
}

/** Returns for example `the labels code, pod`. */
export function describeNames(names: readonly string[]): string {
  return names.length === 0 ? 'no labels' : `the labels ${listSome(names, 8)}`;
}

/** Returns the labels that differ between series with equal values of the labels `by`. */
export function differingLabels(series: readonly Series[], by: readonly string[]): readonly string[] {
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
