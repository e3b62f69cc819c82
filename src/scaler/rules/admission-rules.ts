import { type Finding, finding, formatPath } from '../problems/finding.js';
import { didYouMean } from '../problems/nearest.js';
import { isPlainObject, valueAt } from '../plain-json.js';
import { MAX_METRICS } from '../schema/field-types.js';

export interface ServiceFacts {
  readonly sources: readonly {
    readonly name: string;
    /** The kind of server. Default: prometheus. */
    readonly flavor?: string;
    /** The namespaces whose documents may use the data source; empty: all. */
    readonly namespaces: readonly string[];
  }[];
  /** The watched namespaces; empty: all. */
  readonly namespaces: readonly string[];
}

export function isMetricsql(service: Pick<ServiceFacts, 'sources'> | undefined, source = 'default'): boolean {
  return service?.sources.find(({ name }) => name === source)?.flavor === 'victoriametrics';
}

export function checkAdmission(document: unknown, service: ServiceFacts): readonly Finding[] {
  const findings: Finding[] = [];
  const namespace = valueAt(document, ['metadata', 'namespace']);
  const watched = service.namespaces;
  if (typeof namespace === 'string' && watched.length > 0 && !watched.includes(namespace)) {
    const message = `metadata.namespace is ${namespace}, must be one of the watched namespaces ${watched.join(', ')} (kubernetes.namespaces)`;
    findings.push(finding('namespace-not-watched', ['metadata', 'namespace'], message));
  }
  const metrics = valueAt(document, ['spec', 'metrics']);
  const list: readonly unknown[] = Array.isArray(metrics) && metrics.length > 0 ? metrics : [{}];
  list.slice(0, MAX_METRICS).forEach((metric, index) => {
    const member = ['pods', 'object', 'external'].find(
      (name) => isPlainObject(metric) && isPlainObject(metric[name]),
    );
    const path = ['spec', 'metrics', index, ...(member === undefined ? [] : [member, 'source'])];
    const named = member === undefined ? undefined : valueAt(metric, [member, 'source']);
    const source = named ?? 'default';
    if (typeof source === 'string') findings.push(...checkSource(source, path, { namespace, service }));
  });
  for (const name of ['podDeletionCost', 'maxReplicasFrom']) {
    const queried = valueAt(document, ['spec', name]);
    if (!isPlainObject(queried) || queried['query'] === undefined) continue;
    const { source = 'default' } = queried;
    const path = ['spec', name, 'source'];
    if (typeof source === 'string') findings.push(...checkSource(source, path, { namespace, service }));
  }
  return findings;
}

function checkSource(
  source: string,
  path: Finding['path'],
  { namespace, service }: { readonly namespace: unknown; readonly service: ServiceFacts },
): readonly Finding[] {
  const names = service.sources.map(({ name }) => name);
  const known = service.sources.find(({ name }) => name === source);
  if (known === undefined) {
    const hint = didYouMean(source, names);
    const message = `${formatPath(path)}: there is no data source ${source}; the data sources of the service config are ${names.join(', ')}${hint}`;
    return [finding('unknown-source', path, message)];
  }
  if (typeof namespace !== 'string' || known.namespaces.length === 0 || known.namespaces.includes(namespace))
    return [];
  const message = `${formatPath(path)}: the data source ${source} is not available in namespace ${namespace} (prometheus.${source}.namespaces)`;
  return [finding('source-not-admitted', path, message)];
}
