import type { LabelMatchers } from './label-matchers.js';

/** A metric of the custom metrics API (Pods, Object) or of the external metrics API. */
export interface NamedMetric {
  readonly member: 'pods' | 'object' | 'external';
  readonly name: string;
  readonly selector: LabelMatchers;
  /** Null: the metric has no object. */
  readonly objectKind: string | null;
  /** API group of the object; empty: the core group. */
  readonly objectGroup: string | null;
}

/** The query of a metric, or why it is unknown. */
export type FoundQuery =
  | { readonly query: string; readonly notes: readonly string[] }
  | {
      readonly query: null;
      readonly reason: string;
      /** Queries of which one may be correct. */
      readonly candidates?: readonly string[];
    };

export type MetricQueries = (metric: NamedMetric) => FoundQuery;

/**
 * Finds no query. Without the rules of prometheus-adapter, queries are unknown, because a metrics API does not report
 * where its values come from.
 */
export const NO_QUERIES: MetricQueries = ({ name }) => ({ query: null, reason: originOf(name) });

function originOf(name: string): string {
  if (/^s\d+-/.test(name)) return 'it looks like a metric of KEDA: import its ScaledObject instead';
  if (name.startsWith('datadogmetric@')) return 'it is a metric of Datadog';
  if (name.includes('|')) return 'it looks like a metric of Google Cloud Monitoring';
  return 'pass the rules of prometheus-adapter with --adapter-config';
}

export function exampleQuery({ member, name, selector }: NamedMetric): string {
  const series = /^[A-Za-z_:][\w:]*$/.test(name) ? name : 'METRIC';
  const scope = {
    pods: ['namespace="$namespace"', 'pod=~"$pods"'],
    object: ['namespace="$namespace"'],
    external: [],
  }[member];
  const labels = [...scope, ...selector.matchers].join(', ');
  const selected = labels === '' ? series : `${series}{${labels}}`;
  return member === 'pods' ? `sum by (pod) (${selected})` : `sum(${selected})`;
}
