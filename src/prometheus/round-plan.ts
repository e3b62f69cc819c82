import type { Scaler } from '../scaler/spec.js';
import type { Suspect } from './duplicate-watch.js';
import { queryKey, type MetricNeed } from './scaler-queries.js';
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

type ResourceNeed = Extract<MetricNeed, { readonly kind: 'resource' }>;

export interface Needs {
  readonly metrics: readonly MetricNeed[];
  /** Null: the scaler ranks no pods. */
  readonly ranking: MetricNeed | null;
  /** What may count series twice, in the order of `metrics`; null: nothing is queried. */
  readonly suspects: readonly (SuspectOfSource | null)[];
}

export type SuspectOfSource = Suspect & { readonly source: string };

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
  /** With the number of scalers that need the resource of their pods. */
  readonly namespaces: Map<string, number>;
  seconds: number;
}

export interface RoundPlan {
  readonly queries: ReadonlyMap<string, PlannedQuery>;
  /** Ranking queries that no metric uses. */
  readonly rankings: ReadonlyMap<string, PlannedQuery>;
  readonly resources: ReadonlyMap<string, PlannedResource>;
}

/** Plans a round scaler by scaler, because all scalers of a large fleet in one task delay probes. */
interface RoundPlanner {
  readonly add: (needed: NeededScaler) => void;
  /** Returns each distinct query and each resource once, with the shortest time limit of all scalers that need it. */
  readonly plan: () => RoundPlan;
}

export function createRoundPlanner(): RoundPlanner {
  const queries = new Map<string, PlannedQuery>();
  const resources = new Map<string, PlannedResource>();
  const ranked: NeededScaler[] = [];
  return {
    add: (needed) => {
      const { scaler, periodSeconds, metrics, ranking } = needed;
      if (ranking !== null) ranked.push(needed);
      for (const need of metrics) {
        if (need.kind === 'refused') continue;
        const { source } = need;
        const seconds = queryDeadlineSeconds(source, periodSeconds);
        if (need.kind === 'resource') {
          planResource(resources, scaler.namespace, { need, seconds });
          continue;
        }
        planQuery(queries, need.key, { source, query: need.query, periodSeconds, seconds });
        for (const query of checkQueriesOf(need))
          planQuery(queries, queryKey(source, query), { source, query, periodSeconds, seconds });
      }
    },
    plan: () => ({ queries, rankings: planRankings(ranked, queries), resources }),
  };
}

function planResource(
  resources: Map<string, PlannedResource>,
  namespace: string,
  { need, seconds }: { readonly need: ResourceNeed; readonly seconds: number },
): void {
  const known = resources.get(need.key);
  if (known === undefined) {
    const { source, resource } = need;
    resources.set(need.key, { source, resource, namespaces: new Map([[namespace, 1]]), seconds });
    return;
  }
  known.namespaces.set(namespace, (known.namespaces.get(namespace) ?? 0) + 1);
  known.seconds = Math.min(known.seconds, seconds);
}

function planRankings(
  needed: readonly NeededScaler[],
  queries: ReadonlyMap<string, PlannedQuery>,
): ReadonlyMap<string, PlannedQuery> {
  const rankings = new Map<string, PlannedQuery>();
  for (const { periodSeconds, ranking } of needed) {
    if (ranking?.kind !== 'query' || queries.has(ranking.key)) continue;
    const { source, query } = ranking;
    planQuery(rankings, ranking.key, {
      source,
      query,
      periodSeconds,
      seconds: queryDeadlineSeconds(source, periodSeconds),
    });
  }
  return rankings;
}

const NO_QUERIES: readonly string[] = [];

function checkQueriesOf({ checks }: QueryNeed): readonly string[] {
  if (checks === null) return NO_QUERIES;
  return [checks.guard, checks.freshness?.query ?? null].filter((one) => one !== null);
}

function planQuery(queries: Map<string, PlannedQuery>, key: string, planned: PlannedQuery): void {
  const known = queries.get(key);
  if (known === undefined) queries.set(key, planned);
  else {
    known.periodSeconds = Math.min(known.periodSeconds, planned.periodSeconds);
    known.seconds = Math.min(known.seconds, planned.seconds);
  }
}
