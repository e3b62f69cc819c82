import { podsPattern } from '../promql/pods-pattern.js';
import { substitute } from '../promql/variables.js';
import type { MetricSpec, Scaler } from '../scaler/spec.js';
import type { Answer } from './answer.js';
import type { MetricChecks } from './metric-checks.js';
import { isByNamespace, resourceQuery } from './resource-queries.js';
import type { SourceConfig } from './source-config.js';

/** What one metric of a scaler needs to be asked. */
export type MetricNeed =
  | {
      readonly kind: 'query';
      readonly source: SourceConfig;
      readonly query: string;
      readonly checks: MetricChecks | null;
    }
  /** A resource, asked for several namespaces in one query. */
  | { readonly kind: 'resource'; readonly source: SourceConfig; readonly resource: string }
  /** It cannot be asked at all. */
  | { readonly kind: 'refused'; readonly answer: Answer };

/** What each metric of the scaler needs, in the order of `spec.metrics`; variables are replaced. */
export function metricNeeds(
  scaler: Scaler,
  sources: ReadonlyMap<string, SourceConfig>,
): readonly MetricNeed[] {
  return scaler.spec.metrics.map((metric) => {
    const source = sources.get(metric.source);
    if (source === undefined) {
      return refused('bad_query', `the service config has no data source "${metric.source}"`);
    }
    if (source.namespaces.length > 0 && !source.namespaces.includes(scaler.namespace)) {
      return refused(
        'unauthorized',
        `namespace ${scaler.namespace} may not ask data source "${source.name}"`,
      );
    }
    return needOf(metric, scaler, source);
  });
}

/** The query of a metric as it is sent for this scaler alone; null where its source has no query for the resource. */
export function metricQuery(metric: MetricSpec, scaler: Scaler, source: SourceConfig): string | null {
  if (metric.type === 'Resource' || metric.type === 'ContainerResource') {
    return resourceQuery(source, metric.name, [scaler.namespace]);
  }
  return withVariables(metric.query, metric, scaler);
}

/** The guard and freshness of a metric as they are sent for this scaler; null where it has neither. */
export function metricChecks(metric: MetricSpec, scaler: Scaler): MetricChecks | null {
  if (metric.type !== 'Object' && metric.type !== 'External') return null;
  const { guard, freshness, onMissing } = metric;
  if (guard === null && freshness === null) return null;
  return {
    guard: guard === null ? null : withVariables(guard, metric, scaler),
    freshness:
      freshness === null ? null : { ...freshness, query: withVariables(freshness.query, metric, scaler) },
    isMissingZero: onMissing === 'zero',
  };
}

function withVariables(query: string, metric: MetricSpec, scaler: Scaler): string {
  const { kind, name } = scaler.spec.scaleTargetRef;
  const object = metric.type === 'Object' ? metric.describedObject?.name : undefined;
  return substitute(query, {
    namespace: scaler.namespace,
    name,
    pods: podsPattern(kind, name),
    ...(object === undefined ? {} : { object }),
  });
}

function needOf(metric: MetricSpec, scaler: Scaler, source: SourceConfig): MetricNeed {
  const isResource = metric.type === 'Resource' || metric.type === 'ContainerResource';
  if (isResource && isByNamespace(source, metric.name)) {
    return { kind: 'resource', source, resource: metric.name };
  }
  const query = metricQuery(metric, scaler, source);
  return query === null
    ? refused('bad_query', `data source "${source.name}" has no resource query for "${metric.name}"`)
    : { kind: 'query', source, query, checks: metricChecks(metric, scaler) };
}

function refused(reason: 'bad_query' | 'unauthorized', message: string): MetricNeed {
  return { kind: 'refused', answer: { class: 'failed', reason, message } };
}
