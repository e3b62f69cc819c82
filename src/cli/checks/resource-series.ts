import { labelOf, type Series } from '../../prometheus/answers/columns.js';
import {
  isByNamespace,
  namespacesPattern,
  resourceQuery,
} from '../../prometheus/data-source/resource-queries.js';
import { describeContainerDuplicates, findContainerDuplicates } from '../../prometheus/queries/duplicates.js';
import { vectorSelectors, type VectorSelector } from '../../promql/vector-selectors.js';
import {
  type CheckResult,
  labelNames,
  labelValues,
  onlyValue,
  type CheckResults,
  type Checked,
  answeredLabels,
} from './check-result.js';
import type { SourceContext } from './context.js';
import { type OtherExporter, findOtherExporter } from './other-exporters.js';
import { fixForCopies } from './query-fixes.js';
import {
  type LabelScheme,
  findLabelScheme,
  isDefaultScheme,
  resourceQueryFor,
  selectorsOfNamespace,
  type UsedResource,
  usedResources,
} from './resource-labels.js';
import { listSome } from '../../units/format.js';

/** Checks that each resource query returns series with the expected labels for all scaled namespaces. */
export async function checkResourceSeries(context: Checked<SourceContext>): Promise<CheckResults> {
  const { source, make } = context;
  const used = usedResources(context);
  if (used.length === 0) return make.skipped('no document uses cpu or memory metrics of this data source');
  const results = used.map(({ resource, namespaces }) => {
    const key = `prometheus.${source.name}.resourceQueries.${resource}`;
    const query = resourceQuery(source, resource, namespaces) ?? '';
    const [selector] = vectorSelectors(query);
    const metric = selector?.metric ?? null;
    return checkResource({ ...context, resource, namespaces, key, query, selector, metric });
  });
  return (await Promise.all(results)).flat();
}

/** A resource that documents use, and its query. */
interface QueriedResource extends Checked<SourceContext>, UsedResource {
  /** Path of the query in the service config. */
  readonly key: string;
  readonly query: string;
  /** The first selector of the query. */
  readonly selector: VectorSelector | undefined;
  readonly metric: string | null;
}

async function checkResource(queried: QueriedResource): Promise<CheckResults> {
  const { source, runQuery, make, resource, namespaces, key, query } = queried;
  const answer = await runQuery(query);
  if (answer.class === 'failed' || answer.class === 'invalid')
    return make.failed(
      `${key} failed: ${answer.message}`,
      `check ${key}; docs/reference/service-config.md shows the default query`,
    );
  if (answer.class === 'missing' || answer.series.length === 0) return explainNoSeries(queried);
  const { series } = answer;
  const without = ['namespace', 'pod'].filter((label) =>
    series.some((one) => labelOf(one, label) === undefined),
  );
  if (without.length > 0) {
    const fix = `${key}: begin the query with "sum by (namespace, pod, container) (...)"`;
    return make.failed(`${key} returns series without the label ${without.join(' and ')}`, fix);
  }
  const missing = namespaces.filter((namespace) => !labelValues(answer, 'namespace').includes(namespace));
  const results = [
    ...(missing.length > 0 && isByNamespace(source, resource)
      ? [await explainMissingNamespaces(queried, missing)]
      : []),
    ...(await checkDuplicates(queried)),
  ];
  return results.length > 0 ? results : make.ok(`${resource} series of ${series.length} containers`);
}

async function explainNoSeries(queried: QueriedResource): Promise<CheckResult> {
  const { runQuery, make, resource, namespaces, key, query, metric } = queried;
  if (metric === null)
    return make.failed(`${key} returns no series`, `run the query in the Prometheus UI: ${query}`);
  const some = await runQuery(`topk(20, ${metric})`);
  if (!('series' in some)) {
    const other = await findOtherExporter(runQuery, resource);
    if (other !== null) return reportOther(other, metric, queried);
    return make.failed(
      `the data source has no series ${metric}`,
      'scrape the kubelets: https://NODE:10250/metrics/cadvisor (kube-prometheus-stack: kubelet.enabled, ' +
        'kubelet.serviceMonitor.cAdvisor); check Status > Targets of Prometheus for targets that are down',
    );
  }
  const schemes = await readLabelSchemes(runQuery, metric, namespaces);
  const [scheme = null, second] = schemes;
  if (second !== undefined)
    return make.failed(
      `the labels of ${metric} differ between namespaces (${schemes.map(describeScheme).join('; ')})`,
      `${key}: '${queryForSchemes(metric, schemes)}'`,
    );
  const labels = scheme ?? findLabelScheme(new Set(answeredLabels(some)));
  if (labels === null)
    return make.failed(
      `${metric} has no labels for namespace and pod; its labels are ${listSome(answeredLabels(some), 12)}`,
      'scrape /metrics/cadvisor of the kubelets rather than a standalone cAdvisor; remove labeldrop rules from the scrape config',
    );
  if (
    !isDefaultScheme(labels) ||
    onlyValue(await runQuery(`count(${metric}{container!="", container!="POD"})`)) === null
  ) {
    const found = { ...labels, container: isDefaultScheme(labels) ? null : labels.container };
    return make.failed(
      `the labels of ${metric} are ${describeScheme(found)}, but ${key} expects namespace, pod, container`,
      `${key}: '${queryForSchemes(metric, [found])}'`,
    );
  }
  return explainNoSeriesInNamespaces(metric, queried);
}

/** The attributes from which the labels of the kubelet stats receiver are made. */
const ATTRIBUTES = '[k8s.namespace.name, k8s.pod.name, k8s.container.name]';

function reportOther(
  { metric: found, of, query, labels, windowSeconds }: OtherExporter,
  metric: string,
  { make, resource, source, key }: QueriedResource,
): CheckResult {
  const message = `the data source has no series ${metric}, but has ${found} from ${of}`;
  if (query === null)
    return make.failed(
      `${message}, and those series have no labels for namespace and pod${labels.length === 0 ? '' : ` (labels: ${listSome(labels, 12)})`}`,
      `promote the resource attributes to labels: otlp.promote_resource_attributes: ${ATTRIBUTES} in the config of ` +
        'Prometheus, or resource_to_telemetry_conversion: { enabled: true } in the exporter of the Collector',
    );
  const window =
    windowSeconds === null
      ? ''
      : `, and prometheus.${source.name}.resourceWindows: { ${resource}: ${windowSeconds} }`;
  return make.failed(message, `${key}: '${query}'${window}`);
}

function describeScheme({ namespace, pod, container }: LabelScheme): string {
  return [namespace, pod, container ?? 'no label for containers'].join(', ');
}

async function explainMissingNamespaces(
  { source, runQuery, make, resource, key, metric }: QueriedResource,
  missing: readonly string[],
): Promise<CheckResult> {
  const schemes = metric === null ? [] : await readLabelSchemes(runQuery, metric, missing);
  const others = schemes.filter((scheme) => !isDefaultScheme(scheme));
  if (metric === null || others.length === 0)
    return make.warning(
      `the data source has no ${resource} series of namespace ${listSome(missing)}`,
      'ignore this warning if no pod runs in the namespace yet; otherwise, check that the nodes of the pods are scraped, and that no drop rule of the scrape config removes the namespace',
    );
  const own = source.resourceQueries[resource] ?? '';
  return make.failed(
    `the labels of ${metric} in namespace ${listSome(missing)} are ${others.map(describeScheme).join('; ')}, but ${key} expects namespace, pod, container`,
    `${key}: '${own} or ${queryForSchemes(metric, others)}'`,
  );
}

async function explainNoSeriesInNamespaces(
  metric: string,
  { runQuery, source, make, namespaces, selector, key }: QueriedResource,
): Promise<CheckResult> {
  const text = selector?.text ?? metric;
  if (onlyValue(await runQuery(`count(${text})`)) !== null)
    return make.failed(
      `${metric} has series, but rate over ${source.resourceWindowSeconds} s returns none: the window contains fewer than two samples`,
      'see the result of the check `scrape-interval`; if Prometheus or the pods have just started, wait for two scrapes',
    );
  const others = labelValues(await runQuery(`group by (namespace) (${metric})`), 'namespace');
  if (namespaces.length > 0 && others.length > 0)
    return make.failed(
      `${metric} has no series in namespace ${listSome(namespaces)}, only in ${listSome(others)}`,
      `if the check \`target\` fails, see its result: the namespace may be wrong; otherwise scrape the nodes of the pods with this Prometheus (matcher: namespace=~"${namespacesPattern(namespaces)}")`,
    );
  return make.failed(
    `${key} matches no series of ${metric}`,
    `find the matcher that excludes the series of ${metric}, and remove this matcher: ${text}`,
  );
}

/** Limits the namespaces that are checked, because each needs a query. */
const MAX_NAMESPACES = 5;

/**
 * Returns the distinct label schemes of a metric in these namespaces; empty: the metric has no series. A Prometheus may
 * have several schemes, for example for two scrape jobs or two clusters.
 */
async function readLabelSchemes(
  runQuery: SourceContext['runQuery'],
  metric: string,
  namespaces: readonly string[],
): Promise<readonly LabelScheme[]> {
  const schemes = new Map<string, LabelScheme>();
  for (const namespace of namespaces.slice(0, MAX_NAMESPACES)) {
    const answer = await runQuery(`topk(20, ${selectorsOfNamespace(metric, namespace).join(' or ')})`);
    const scheme = 'series' in answer ? schemeOf(answer.series, namespace) : null;
    if (scheme !== null) schemes.set(JSON.stringify(scheme), scheme);
  }
  return [...schemes.values()];
}

/** Returns the label scheme of the series. A label counts as the namespace only if it has this namespace as a value. */
function schemeOf(series: readonly Series[], namespace: string): LabelScheme | null {
  const isOf = (label: string): boolean => series.some((one) => labelOf(one, label) === namespace);
  const names = labelNames(series).filter((name) => !/namespace/.test(name) || isOf(name));
  return findLabelScheme(new Set(names));
}

function queryForSchemes(metric: string, schemes: readonly LabelScheme[]): string {
  const isCounter = metric.endsWith('_total');
  return schemes.map((scheme) => resourceQueryFor(metric, scheme, { isCounter })).join(' or ');
}

/** Checks that no container has several series, because its usage would be counted several times. */
async function checkDuplicates({
  source,
  runQuery,
  make,
  resource,
  key,
  query,
}: QueriedResource): Promise<readonly CheckResult[]> {
  const found = await findContainerDuplicates(runQuery, query);
  if (found === null) return [];
  const message = `${describeContainerDuplicates(found, resource)}: the usage is counted `;
  const fix = `${key}: ${fixForCopies(found)}`;
  if (!found.isAdded) return [make.warning(`${message}once, because the query takes the largest`, fix)];
  return Object.hasOwn(source.onceQueries, resource)
    ? [make.warning(`${message}once, because the service takes the largest`, fix)]
    : [make.failed(`${message}up to ${found.times} times`, fix)];
}
