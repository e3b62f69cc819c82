import type { Scaler } from '../scaler/spec.js';
import type { MetricNeed } from './scaler-queries.js';
import type { SourceConfig } from './data-source/source-config.js';

/** A scaler that decides in this round, and its sync period. A query may take at most half of the period. */
export interface DueScaler {
  readonly scaler: Scaler;
  readonly periodSeconds: number;
}

const LEAST_DEADLINE_SECONDS = 1;

/**
 * Returns the time limit of a query over all urls of its source: half the period, at most the timeout, at least 1 s.
 */
export function queryDeadlineSeconds(source: SourceConfig, periodSeconds: number): number {
  return Math.max(LEAST_DEADLINE_SECONDS, Math.min(source.timeoutSeconds, periodSeconds / 2));
}

export type QueryNeed = Extract<MetricNeed, { readonly kind: 'query' }>;

export interface Needs {
  readonly metrics: readonly MetricNeed[];
  /** Null: the scaler ranks no pods. */
  readonly ranking: MetricNeed | null;
}

export interface NeededScaler extends DueScaler, Needs {}

export interface PlannedQuery {
  readonly source: SourceConfig;
  readonly query: string;
  /** The shortest period, and the shortest `seconds`, of all scalers that need the query. */
  periodSeconds: number;
  seconds: number;
}

export interface PlannedResource {
  readonly source: SourceConfig;
  readonly resource: string;
  readonly namespaces: Set<string>;
  seconds: number;
}

export interface RoundPlan {
  readonly queries: ReadonlyMap<string, PlannedQuery>;
  /** Ranking queries that no metric uses. */
  readonly rankings: ReadonlyMap<string, PlannedQuery>;
  readonly resources: ReadonlyMap<string, PlannedResource>;
}

/** Returns each distinct query and each resource once, with the shortest time limit of all scalers that need it. */
export function planRound(needed: readonly NeededScaler[]): RoundPlan {
  const queries = new Map<string, PlannedQuery>();
  const resources = new Map<string, PlannedResource>();
  for (const { scaler, periodSeconds, metrics } of needed) {
    for (const need of metrics) {
      if (need.kind === 'refused') continue;
      const { source } = need;
      const seconds = queryDeadlineSeconds(source, periodSeconds);
      if (need.kind === 'query') {
        for (const query of queriesOf(need)) planQuery(queries, { source, query, periodSeconds, seconds });
        continue;
      }
      const key = keyOf(source, need.resource);
      const known = resources.get(key);
      if (known === undefined) {
        const namespaces = new Set([scaler.namespace]);
        resources.set(key, { source, resource: need.resource, namespaces, seconds });
      } else {
        known.namespaces.add(scaler.namespace);
        known.seconds = Math.min(known.seconds, seconds);
      }
    }
  }
  return { queries, rankings: planRankings(needed, queries), resources };
}

function planRankings(
  needed: readonly NeededScaler[],
  queries: ReadonlyMap<string, PlannedQuery>,
): ReadonlyMap<string, PlannedQuery> {
  const rankings = new Map<string, PlannedQuery>();
  for (const { periodSeconds, ranking } of needed) {
    if (ranking?.kind !== 'query' || queries.has(keyOf(ranking.source, ranking.query))) continue;
    const { source, query } = ranking;
    planQuery(rankings, {
      source,
      query,
      periodSeconds,
      seconds: queryDeadlineSeconds(source, periodSeconds),
    });
  }
  return rankings;
}

function queriesOf({ query, checks }: QueryNeed): readonly string[] {
  const { guard = null, freshness = null } = checks ?? {};
  return [query, guard, freshness?.query ?? null].filter((one) => one !== null);
}

function planQuery(queries: Map<string, PlannedQuery>, planned: PlannedQuery): void {
  const key = keyOf(planned.source, planned.query);
  const known = queries.get(key);
  if (known === undefined) queries.set(key, planned);
  else {
    known.periodSeconds = Math.min(known.periodSeconds, planned.periodSeconds);
    known.seconds = Math.min(known.seconds, planned.seconds);
  }
}

export function keyOf({ name }: SourceConfig, query: string): string {
  return `${name}\n${query}`;
}
