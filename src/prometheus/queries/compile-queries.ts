import { isReadAsZero } from '../../decision/snapshot/judge-sample.js';
import { isByPod } from '../../promql/by-pod.js';
import { patternText, type PodsPattern, podsPattern, podsPatternOf } from '../../promql/pods-pattern.js';
import { substitute } from '../../promql/variables.js';
import { isOfResource, type MaxReplicasFrom, type MetricSpec, type Scaler } from '../../scaler/spec.js';
import { withoutTrailingSlashes } from '../../http/http-client.js';
import type { Answer } from '../answers/answer.js';
import { isByNamespace, resourceQuery } from '../data-source/resource-queries.js';
import type { SourceConfig } from '../data-source/source-config.js';
import type { MetricChecks } from './checks.js';

export interface ScalerQueries {
  readonly scaler: Scaler;
  /** In the order of `spec.metrics`. */
  readonly metrics: readonly MetricQuery[];
  /** The query of `maxReplicasFrom`; null: the document has none. */
  readonly ceiling: MetricQuery | null;
  /** The queries that the decision waits for: metrics, ceiling and their checks. Each key occurs once. */
  readonly awaited: readonly CompiledQuery[];
  /** The query of the pod ranking. Null: the document ranks no pods, or is in dry run. */
  readonly ranking: MetricQuery | null;
}

export type MetricQuery = CompiledQuery | { readonly kind: 'refused'; readonly answer: Answer };

/**
 * `key` identifies the answer within a round, and what is known about the query's duplicates. Queries with the same
 * `mergedKey` are sent as one query.
 */
export type CompiledQuery = { readonly key: string; readonly source: SourceConfig } & (
  | { readonly kind: 'alone'; readonly text: string; readonly checks: MetricChecks | null }
  /** A resource query, which is sent for several namespaces at once. */
  | {
      readonly kind: 'byNamespace';
      readonly mergedKey: string;
      readonly resource: string;
      readonly checks: MetricChecks | null;
    }
  /** A query that evaluates each pod independently, so that it can be sent for several workloads at once. */
  | {
      readonly kind: 'byPod';
      readonly mergedKey: string;
      /** The query with a value for each variable except `$pods`. */
      readonly text: string;
      readonly pattern: PodsPattern;
      readonly pods: string;
    }
);

export function compileScaler(scaler: Scaler, sources: ReadonlyMap<string, SourceConfig>): ScalerQueries {
  const metrics = scaler.spec.metrics.map((metric) => compileMetric(metric, scaler, sources));
  const ceiling = compileCeiling(scaler, sources);
  const awaited = new Map<string, CompiledQuery>();
  for (const metric of ceiling === null ? metrics : [...metrics, ceiling])
    if (metric.kind !== 'refused')
      for (const query of [metric, ...checkQueries(metric)]) awaited.set(query.key, query);
  return {
    scaler,
    metrics,
    ceiling,
    awaited: [...awaited.values()],
    ranking: compileRanking(scaler, sources),
  };
}

function compileMetric(
  metric: MetricSpec,
  scaler: Scaler,
  sources: ReadonlyMap<string, SourceConfig>,
): MetricQuery {
  const source = sourceFor(scaler, metric.source, sources);
  if ('kind' in source) return source;
  if (isOfResource(metric) && isByNamespace(source, metric.name)) {
    const key = `resource\n${source.name}\n${metric.name}`;
    return {
      kind: 'byNamespace',
      key: `${key}\n${scaler.namespace}`,
      mergedKey: `${key}\n${scaler.spec.syncPeriodSeconds}`,
      source,
      resource: metric.name,
      checks: metricChecks(metric, scaler),
    };
  }
  if (metric.type === 'Pods' && isByPod(metric.query)) return workloadQuery(metric.query, scaler, source);
  const text = metricQueryText(metric, scaler, source);
  return text === null
    ? refused('bad_query', `data source "${source.name}" has no resource query for "${metric.name}"`)
    : aloneQuery(source, text, metricChecks(metric, scaler));
}

function compileCeiling(scaler: Scaler, sources: ReadonlyMap<string, SourceConfig>): MetricQuery | null {
  const { maxReplicasFrom } = scaler.spec;
  if (maxReplicasFrom === null) return null;
  const source = sourceFor(scaler, maxReplicasFrom.source, sources);
  if ('kind' in source) return source;
  return aloneQuery(source, ceilingQuery(maxReplicasFrom, scaler));
}

/** Returns the query of `maxReplicasFrom` as it is sent. */
export function ceilingQuery({ query }: MaxReplicasFrom, scaler: Scaler): string {
  return substitute(query, variablesOf(scaler));
}

function compileRanking(scaler: Scaler, sources: ReadonlyMap<string, SourceConfig>): MetricQuery | null {
  const { podDeletionCost, dryRun } = scaler.spec;
  if (podDeletionCost === null || dryRun) return null;
  const source = sourceFor(scaler, podDeletionCost.source, sources);
  if ('kind' in source) return source;
  if (isByPod(podDeletionCost.query)) return workloadQuery(podDeletionCost.query, scaler, source);
  return aloneQuery(source, substitute(podDeletionCost.query, variablesOf(scaler)));
}

function sourceFor(
  { namespace }: Scaler,
  name: string,
  sources: ReadonlyMap<string, SourceConfig>,
): SourceConfig | Extract<MetricQuery, { readonly kind: 'refused' }> {
  const source = sources.get(name);
  if (source === undefined) return refused('bad_query', `the service config has no data source "${name}"`);
  if (source.namespaces.length === 0 || source.namespaces.includes(namespace)) return source;
  return refused(
    'unauthorized',
    `namespace ${namespace} is not allowed to query data source "${source.name}"`,
  );
}

function refused(
  reason: 'bad_query' | 'unauthorized',
  message: string,
): Extract<MetricQuery, { readonly kind: 'refused' }> {
  return { kind: 'refused', answer: { class: 'failed', reason, message } };
}

/**
 * Creates a query that several workloads share. Only scalers with the same sync period share it: otherwise the set of
 * workloads, and so the text of the query, would change from round to round.
 */
function workloadQuery(written: string, scaler: Scaler, source: SourceConfig): CompiledQuery {
  const { scaleTargetRef, syncPeriodSeconds } = scaler.spec;
  const { kind, name } = scaleTargetRef;
  const text = substitute(written, { namespace: scaler.namespace, name });
  const pattern = podsPatternOf(kind, name);
  const pods = patternText(pattern);
  const key = `pods\n${source.name}\n${text}`;
  const mergedKey = `${key}\n${syncPeriodSeconds}`;
  return { kind: 'byPod', key: `${key}\n${pods}`, mergedKey, source, text, pattern, pods };
}

/** Returns the queries of a metric besides its own. */
function checkQueries(query: CompiledQuery): readonly CompiledQuery[] {
  if (query.kind === 'byPod' || query.checks === null) return [];
  return Object.values(query.checks.queries).map((text) => aloneQuery(query.source, text));
}

function aloneQuery(source: SourceConfig, text: string, checks: MetricChecks | null = null): CompiledQuery {
  return { kind: 'alone', key: ownKey(source, text), source, text, checks };
}

/** Returns the key of the answer to a query that is not merged with others. */
export function ownKey({ name }: SourceConfig, text: string): string {
  return `own\n${name}\n${text}`;
}

/** A query of a document, shown so that a person can run it. */
export interface ShownQuery {
  /** Path in the document, such as `spec.metrics[0]` or `spec.maxReplicasFrom`. */
  readonly path: string;
  /** The text of the query, with a value for each variable. */
  readonly query: string;
  /** The URL of the query over the last hour in the UI of its data source; null: the config has no `externalUrl`. */
  readonly graphUrl: string | null;
}

/**
 * Returns the queries of a scaler. Omits queries that cannot be sent: the data source does not exist, does not allow
 * the namespace, or has no query for the resource.
 */
export function shownQueries(
  scaler: Scaler,
  sources: ReadonlyMap<string, SourceConfig>,
): readonly ShownQuery[] {
  const { metrics, maxReplicasFrom } = scaler.spec;
  const show = (path: string, name: string, write: (source: SourceConfig) => string | null): ShownQuery[] => {
    const source = sourceFor(scaler, name, sources);
    const query = 'kind' in source ? null : write(source);
    if ('kind' in source || query === null) return [];
    return [{ path, query, graphUrl: graphUrl(source.externalUrl, query) }];
  };
  return [
    ...metrics.flatMap((metric, index) =>
      show(`spec.metrics[${index}]`, metric.source, (source) => metricQueryText(metric, scaler, source)),
    ),
    ...(maxReplicasFrom === null
      ? []
      : show('spec.maxReplicasFrom', maxReplicasFrom.source, () => ceilingQuery(maxReplicasFrom, scaler))),
  ];
}

/** Uses the path and the parameters of Prometheus 2, which Prometheus 3 and Thanos also accept. */
function graphUrl(externalUrl: string | undefined, query: string): string | null {
  if (externalUrl === undefined) return null;
  const parameters = new URLSearchParams({ 'g0.expr': query, 'g0.tab': '0', 'g0.range_input': '1h' });
  return `${withoutTrailingSlashes(externalUrl)}/graph?${parameters.toString()}`;
}

/** Returns the query of a metric for this scaler alone; null: its data source has no query for the resource. */
export function metricQueryText(metric: MetricSpec, scaler: Scaler, source: SourceConfig): string | null {
  if (isOfResource(metric)) {
    return resourceQuery(source, metric.name, [scaler.namespace]);
  }
  return withVariables(metric.query, metric, scaler);
}

/** Returns the additional queries of a metric; null: the metric has none. */
export function metricChecks(metric: MetricSpec, scaler: Scaler): MetricChecks | null {
  const write = (query: string): string => withVariables(query, metric, scaler);
  if (metric.type === 'Resource' && metric.saturation !== undefined)
    return { queries: { served: write(metric.saturation.servedQuery) }, isMissingZero: false };
  if (metric.type !== 'Object' && metric.type !== 'External') return null;
  const { guard, freshness, backlog, capacityQuery: capacity } = metric;
  if (guard === null && freshness === null && backlog === undefined && capacity === undefined) return null;
  return {
    queries: {
      ...(guard === null ? {} : { guard: write(guard) }),
      ...(freshness === null ? {} : { freshness: write(freshness.query) }),
      ...(backlog === undefined ? {} : { backlog: write(backlog.query) }),
      ...(capacity === undefined ? {} : { capacity: write(capacity) }),
    },
    ...(freshness === null ? {} : { maxAgeSeconds: freshness.maxAgeSeconds }),
    isMissingZero: isReadAsZero(metric, 'missing'),
  };
}

/** Returns a query of a metric with a value for each variable. */
export function withVariables(query: string, metric: MetricSpec, scaler: Scaler): string {
  const object = metric.type === 'Object' ? metric.describedObject?.name : undefined;
  return substitute(query, { ...variablesOf(scaler), ...(object === undefined ? {} : { object }) });
}

export function variablesOf({ namespace, spec }: Scaler): {
  readonly namespace: string;
  readonly name: string;
  readonly pods: string;
} {
  const { kind, name } = spec.scaleTargetRef;
  return { namespace, name, pods: podsPattern(kind, name) };
}
