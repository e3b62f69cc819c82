import { isReadAsZero } from '../../decision/samples/sample-rules.js';
import { isByPod } from '../../promql/by-pod.js';
import { patternText, type PodsPattern, podsPattern, podsPatternOf } from '../../promql/pods-pattern.js';
import { substitute } from '../../promql/variables.js';
import type { MetricSpec, Scaler } from '../../scaler/spec.js';
import type { Answer } from '../answers/answer.js';
import type { MetricChecks } from './checks.js';
import { isByNamespace, resourceQuery } from '../data-source/resource-queries.js';
import type { SourceConfig } from '../data-source/source-config.js';

/** `key`: the source and the query or resource. Built once, because 10,000 scalers look it up in each round. */
export type MetricNeed =
  | {
      readonly kind: 'query';
      readonly key: string;
      readonly source: SourceConfig;
      readonly query: string;
      readonly checks: MetricChecks | null;
    }
  /** A resource, queried for several namespaces at once. */
  | {
      readonly kind: 'resource';
      readonly key: string;
      readonly source: SourceConfig;
      readonly resource: string;
    }
  /** A query that evaluates each pod on its own, sent for several workloads at once. */
  | {
      readonly kind: 'pods';
      readonly key: string;
      readonly source: SourceConfig;
      /** All variables but `$pods` have values. */
      readonly query: string;
      readonly pattern: PodsPattern;
      /** The text of the pattern. */
      readonly pods: string;
    }
  | { readonly kind: 'refused'; readonly answer: Answer };

/** In the order of `spec.metrics`. Variables are replaced. */
export function metricNeeds(
  scaler: Scaler,
  sources: ReadonlyMap<string, SourceConfig>,
): readonly MetricNeed[] {
  return scaler.spec.metrics.map((metric) => {
    const source = sourceFor(scaler, metric.source, sources);
    return 'kind' in source ? source : needOf(metric, scaler, source);
  });
}

/** Returns null if the scaler ranks no pods, or never scales. */
export function rankingNeed(scaler: Scaler, sources: ReadonlyMap<string, SourceConfig>): MetricNeed | null {
  const { podDeletionCost, dryRun } = scaler.spec;
  if (podDeletionCost === null || dryRun) return null;
  const source = sourceFor(scaler, podDeletionCost.source, sources);
  if ('kind' in source) return source;
  if (isByPod(podDeletionCost.query)) return podsNeed(podDeletionCost.query, scaler, source);
  const query = substitute(podDeletionCost.query, variablesOf(scaler));
  return { kind: 'query', key: queryKey(source, query), source, query, checks: null };
}

function sourceFor(
  { namespace }: Scaler,
  name: string,
  sources: ReadonlyMap<string, SourceConfig>,
): SourceConfig | Extract<MetricNeed, { readonly kind: 'refused' }> {
  const source = sources.get(name);
  if (source === undefined) return refused('bad_query', `the service config has no data source "${name}"`);
  if (source.namespaces.length === 0 || source.namespaces.includes(namespace)) return source;
  return refused('unauthorized', `namespace ${namespace} may not query data source "${source.name}"`);
}

/** Returns the query of a metric for this scaler alone; null if its source has no query for the resource. */
export function metricQuery(metric: MetricSpec, scaler: Scaler, source: SourceConfig): string | null {
  if (metric.type === 'Resource' || metric.type === 'ContainerResource') {
    return resourceQuery(source, metric.name, [scaler.namespace]);
  }
  return withVariables(metric.query, metric, scaler);
}

/** Returns null if the metric has neither guard nor freshness. */
export function metricChecks(metric: MetricSpec, scaler: Scaler): MetricChecks | null {
  if (metric.type !== 'Object' && metric.type !== 'External') return null;
  const { guard, freshness } = metric;
  if (guard === null && freshness === null) return null;
  return {
    guard: guard === null ? null : withVariables(guard, metric, scaler),
    freshness:
      freshness === null ? null : { ...freshness, query: withVariables(freshness.query, metric, scaler) },
    isMissingZero: isReadAsZero(metric, 'missing'),
  };
}

function withVariables(query: string, metric: MetricSpec, scaler: Scaler): string {
  const object = metric.type === 'Object' ? metric.describedObject?.name : undefined;
  return substitute(query, { ...variablesOf(scaler), ...(object === undefined ? {} : { object }) });
}

function variablesOf({ namespace, spec }: Scaler): {
  readonly namespace: string;
  readonly name: string;
  readonly pods: string;
} {
  const { kind, name } = spec.scaleTargetRef;
  return { namespace, name, pods: podsPattern(kind, name) };
}

function needOf(metric: MetricSpec, scaler: Scaler, source: SourceConfig): MetricNeed {
  const isResource = metric.type === 'Resource' || metric.type === 'ContainerResource';
  if (isResource && isByNamespace(source, metric.name)) {
    return { kind: 'resource', key: queryKey(source, metric.name), source, resource: metric.name };
  }
  if (metric.type === 'Pods' && isByPod(metric.query)) return podsNeed(metric.query, scaler, source);
  const query = metricQuery(metric, scaler, source);
  return query === null
    ? refused('bad_query', `data source "${source.name}" has no resource query for "${metric.name}"`)
    : { kind: 'query', key: queryKey(source, query), source, query, checks: metricChecks(metric, scaler) };
}

/** Only scalers with the same sync period share a query, which would otherwise change from round to round. */
function podsNeed(
  written: string,
  scaler: Scaler,
  source: SourceConfig,
): Extract<MetricNeed, { readonly kind: 'pods' }> {
  const { kind, name } = scaler.spec.scaleTargetRef;
  const query = substitute(written, { namespace: scaler.namespace, name });
  const pattern = podsPatternOf(kind, name);
  return {
    kind: 'pods',
    key: `${queryKey(source, query)}\n${scaler.spec.syncPeriodSeconds}`,
    source,
    query,
    pattern,
    pods: patternText(pattern),
  };
}

/** Returns the query of a need for its scaler alone. */
export function ownQuery(need: Extract<MetricNeed, { readonly kind: 'query' | 'pods' }>): string {
  return need.kind === 'query' ? need.query : substitute(need.query, { pods: need.pods });
}

export function queryKey({ name }: SourceConfig, query: string): string {
  return `${name}\n${query}`;
}

function refused(
  reason: 'bad_query' | 'unauthorized',
  message: string,
): Extract<MetricNeed, { readonly kind: 'refused' }> {
  return { kind: 'refused', answer: { class: 'failed', reason, message } };
}
