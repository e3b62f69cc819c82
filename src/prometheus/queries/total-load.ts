import { isByPod } from '../../promql/by-pod.js';
import { podsPattern } from '../../promql/pods-pattern.js';
import { largestWrittenRangeSeconds } from '../../promql/ranges.js';
import { substitute } from '../../promql/variables.js';
import { labelText } from '../../promql/vector-selectors.js';
import { markPods, OF_WORKLOAD, sumBy, sumOfTotal } from '../../promql/workload-sum.js';
import { isFulfilled } from '../../scaler/label-requirement.js';
import {
  isOfResource,
  isOfTotal,
  type LabelSelector,
  type MetricSpec,
  type Scaler,
} from '../../scaler/spec.js';
import type { RangeSeries } from '../answers/classify.js';
import { labelOf } from '../answers/columns.js';
import { resourceWindowSeconds } from '../data-source/resource-queries.js';
import type { SourceConfig } from '../data-source/source-config.js';
import { metricQueryText } from './compile-queries.js';

/** The query for the load of a whole workload at any time, and what selects its series in the answer. */
export interface TotalLoad {
  readonly query: string;
  /** The labels of the workload's series. Series with other values of these labels belong to other workloads. */
  readonly labels: Readonly<Record<string, string>>;
  readonly selector: LabelSelector;
}

const NAMESPACES = 'namespace=~"$namespaces"';

/** Returns the query for the load of a workload; null: the data source has no query for the resource of the metric. */
export function totalLoad(metric: MetricSpec, scaler: Scaler, source: SourceConfig): TotalLoad | null {
  const query = metricQueryText(metric, scaler, withPodsMatcher(metric, scaler, source));
  if (query === null) return null;
  return sumOfWorkload(metric, scaler, {
    query,
    keysOf: (selector) => selector.map(({ key }) => labelText(key)),
  });
}

/**
 * Returns the query for the sum of a metric over the pods of the target, or, for an Object or External metric, over all
 * series. `query` must not contain variables. `keysOf` returns the labels of a selector as the query writes them.
 */
export function sumOfWorkload(
  metric: MetricSpec,
  scaler: Scaler,
  {
    query,
    keysOf,
  }: { readonly query: string; readonly keysOf: (selector: LabelSelector) => readonly string[] },
): TotalLoad {
  const selector = isOfResource(metric) ? [] : metric.selector;
  const keys = keysOf(selector);
  if (isOfTotal(metric)) return { query: sumOfTotal(keys, query), labels: {}, selector };
  const container = metric.type === 'ContainerResource' ? { container: metric.container } : {};
  const labels = { ...OF_WORKLOAD, ...container };
  const marked = markPods(query, scaler.spec.scaleTargetRef);
  return { query: sumBy([...Object.keys(labels), ...keys], marked), labels, selector };
}

/** Returns the rate window of the metric in seconds: the time until the metric fully shows a change of the load. */
export function windowOfMetric(metric: MetricSpec, source: SourceConfig): number {
  return isOfResource(metric)
    ? resourceWindowSeconds(source, metric.name)
    : largestWrittenRangeSeconds(metric.query);
}

/**
 * If the resource query evaluates each pod independently, returns the data source with a query for the pods of this
 * workload only. Otherwise the server would evaluate all pods of the namespace at each step of the range.
 */
function withPodsMatcher(metric: MetricSpec, { spec }: Scaler, source: SourceConfig): SourceConfig {
  if (!isOfResource(metric)) return source;
  const template = source.resourceQueries[metric.name] ?? '';
  const ofPods = template.replaceAll(NAMESPACES, `${NAMESPACES}, pod=~"$pods"`);
  if (!isByPod(substitute(ofPods, { window: '60s' }))) return source;
  const { kind, name } = spec.scaleTargetRef;
  const query = substitute(ofPods, { pods: podsPattern(kind, name) });
  return { ...source, resourceQueries: { ...source.resourceQueries, [metric.name]: query } };
}

/** Returns the series of the workload. The sum of their values is the load of the workload. */
export function selectLoad<T extends Pick<RangeSeries, 'labels'>>(
  { labels, selector }: TotalLoad,
  series: readonly T[],
): readonly T[] {
  return series.filter(
    (one) =>
      Object.entries(labels).every(([name, value]) => one.labels[name] === value) &&
      selector.every((requirement) => isFulfilled(requirement, labelOf(one, requirement.key))),
  );
}
