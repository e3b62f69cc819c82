import { isByNamespace, namespacesPattern, resourceQuery } from '../../../prometheus/resource-queries.js';
import { labelOf } from '../../../prometheus/series-index.js';
import { vectorSelectors } from '../../../promql/vector-selectors.js';
import { type Finding, findingsOf } from '../finding.js';
import { labelValues, listSome, onlyValue, type SourceInquiry, sourceSubject } from '../inquiry.js';
import { findDoubleScrape } from './double-scrape.js';
import { labelShapes, queryForShapes } from './label-shapes.js';
import { findOtherExporter } from './other-exporters.js';
import { type WhoseLabels, findWhoseLabels, isAsExpected, resourceQueryFor } from './resource-labels.js';
import { neededResources, type NeededResource } from './needed-resources.js';

/** Whether the resource queries of a data source have series of the namespaces that are scaled, with the right labels. */
export async function checkResourceSeries(inquiry: SourceInquiry): Promise<readonly Finding[]> {
  const needed = neededResources(inquiry);
  const make = findingsOf('resource-series', sourceSubject(inquiry.source));
  if (needed.length === 0) return [make.skipped('no document asks it for cpu or memory')];
  return (await Promise.all(needed.map((one) => checkResource(inquiry, one)))).flat();
}

async function checkResource(inquiry: SourceInquiry, needed: NeededResource): Promise<readonly Finding[]> {
  const { source, ask } = inquiry;
  const { resource, namespaces } = needed;
  const make = findingsOf('resource-series', sourceSubject(source));
  const key = `prometheus.${source.name}.resourceQueries.${resource}`;
  const query = resourceQuery(source, resource, namespaces) ?? '';
  const answer = await ask(query);
  if (answer.class === 'failed' || answer.class === 'invalid')
    return [
      make.failed(
        `${key} cannot be asked: ${answer.message}`,
        `compare ${key} with its default in docs/reference/service-config.md`,
      ),
    ];
  if (answer.class === 'missing' || answer.series.length === 0)
    return [await whyNone(inquiry, needed, query)];
  const { series } = answer;
  const without = ['namespace', 'pod'].filter((label) =>
    series.some((one) => labelOf(one, label) === undefined),
  );
  if (without.length > 0) {
    const mend = `${key}: begin it with "sum by (namespace, pod, container) (...)"`;
    return [make.failed(`${key} gives series without the label ${without.join(' and ')}`, mend)];
  }
  const silent = namespaces.filter((namespace) => !labelValues(answer, 'namespace').includes(namespace));
  const doubled = await findDoubleScrape(inquiry, needed, query);
  const findings: Finding[] = [];
  if (silent.length > 0 && isByNamespace(source, resource))
    findings.push(await silentNamespaces(inquiry, resource, { silent, query }));
  return [
    ...findings,
    ...doubled,
    ...(findings.length + doubled.length > 0
      ? []
      : [make.ok(`${resource} series of ${series.length} containers`)]),
  ];
}

/** No series at all: by whose fault. */
async function whyNone(inquiry: SourceInquiry, needed: NeededResource, query: string): Promise<Finding> {
  const { source, ask } = inquiry;
  const { resource, namespaces } = needed;
  const make = findingsOf('resource-series', sourceSubject(source));
  const key = `prometheus.${source.name}.resourceQueries.${resource}`;
  const [selector] = vectorSelectors(query);
  const metric = selector?.metric ?? null;
  if (metric === null)
    return make.failed(`${key} gives no series`, `try it on the Prometheus page: ${query}`);
  const some = await ask(`topk(20, ${metric})`);
  if (some.class !== 'value' && some.class !== 'partial') {
    const other = await findOtherExporter(ask, resource);
    if (other !== null)
      return make.failed(
        `there is no series ${metric}, but ${other.metric}, which is of another exporter than cAdvisor`,
        `${key}: '${other.query}'`,
      );
    return make.failed(
      `there is no series ${metric} at all`,
      'let Prometheus scrape the kubelets: https://NODE:10250/metrics/cadvisor (kube-prometheus-stack: kubelet.enabled, ' +
        'kubelet.serviceMonitor.cAdvisor); look at Status > Targets for one that is down',
    );
  }
  const options = { isCounter: metric.endsWith('_total') };
  const shapes = await labelShapes(ask, metric, namespaces);
  const [shape = null, second] = shapes;
  if (second !== undefined)
    return make.failed(
      `${metric} has other labels in one namespace than in another (${shapes.map(describeShape).join('; ')})`,
      `${key}: '${queryForShapes(metric, shapes, options)}'`,
    );
  const present = new Set(some.series.flatMap(({ labels }) => Object.keys(labels)));
  const labels = shape ?? findWhoseLabels(present);
  if (labels === null)
    return make.failed(
      `${metric} has no label that names namespace and pod; it has ${listSome([...present].filter((label) => label !== '__name__').sort(), 12)}`,
      'scrape /metrics/cadvisor of the kubelets, not a cAdvisor of your own; where a labeldrop rule is in the scrape config, take it out',
    );
  if (
    !isAsExpected(labels) ||
    (await onlyValueOf(ask, `count(${metric}{container!="", container!="POD"})`)) === null
  ) {
    const container = isAsExpected(labels) ? null : labels.container;
    const query = resourceQueryFor(metric, { ...labels, container }, options);
    return make.failed(
      `${metric} has other labels than ${key} asks for (${describeShape({ ...labels, container })} instead of namespace, pod, container)`,
      `${key}: '${query}'`,
    );
  }
  return whyNoneInNamespaces(inquiry, { metric, namespaces, selector: selector?.text ?? metric, key, make });
}

function describeShape({ namespace, pod, container }: WhoseLabels): string {
  return [namespace, pod, container ?? 'no label for containers'].join(', ');
}

/** Namespaces without series of the query: they may have series with other labels than it asks for. */
async function silentNamespaces(
  { source, ask }: SourceInquiry,
  resource: string,
  { silent, query }: { readonly silent: readonly string[]; readonly query: string },
): Promise<Finding> {
  const make = findingsOf('resource-series', sourceSubject(source));
  const metric = vectorSelectors(query)[0]?.metric ?? null;
  const shapes = metric === null ? [] : await labelShapes(ask, metric, silent);
  const others = shapes.filter((shape) => !isAsExpected(shape));
  const key = `prometheus.${source.name}.resourceQueries.${resource}`;
  if (metric === null || others.length === 0)
    return make.warning(
      `there are no ${resource} series of namespace ${listSome(silent)}`,
      'nothing, where no pod runs there yet; else the nodes of those pods are not scraped, or a drop rule of the scrape config leaves the namespace out',
    );
  const own = source.resourceQueries[resource] ?? '';
  return make.failed(
    `${metric} of namespace ${listSome(silent)} has other labels than ${key} asks for (${others.map(describeShape).join('; ')} instead of namespace, pod, container)`,
    `${key}: '${own} or ${queryForShapes(metric, others, { isCounter: metric.endsWith('_total') })}'`,
  );
}

async function whyNoneInNamespaces(
  { ask, source }: SourceInquiry,
  seen: {
    readonly metric: string;
    readonly namespaces: readonly string[];
    readonly selector: string;
    readonly key: string;
    readonly make: ReturnType<typeof findingsOf>;
  },
): Promise<Finding> {
  const { metric, namespaces, selector, key, make } = seen;
  if ((await onlyValueOf(ask, `count(${selector})`)) !== null)
    return make.failed(
      `${metric} is there, but a rate over ${source.resourceWindowSeconds} s gives nothing: fewer than two scrapes are in it`,
      'see scrape-interval; where Prometheus or the pods began just now, wait for two scrapes',
    );
  const others = labelValues(await ask(`group by (namespace) (${metric})`), 'namespace');
  if (namespaces.length > 0 && others.length > 0)
    return make.failed(
      `there is no series ${metric} of namespace ${listSome(namespaces)}; there are some of ${listSome(others)}`,
      `write the right namespace into the documents, or let this Prometheus scrape the nodes of those pods (matcher: namespace=~"${namespacesPattern(namespaces)}")`,
    );
  return make.failed(
    `${key} matches no series of ${metric}`,
    `take matchers off it until it does: ${selector}`,
  );
}

async function onlyValueOf(ask: SourceInquiry['ask'], query: string): Promise<number | null> {
  return onlyValue(await ask(query));
}
