import type { PodsPattern } from '../../promql/pods-pattern.js';
import type { Scaler } from '../../scaler/spec.js';
import type { Suspect } from './duplicate-watch.js';
import type { QueryOwner } from '../source/fair-slots.js';
import { queryKey, type MetricNeed } from './compile.js';
import type { SourceConfig } from '../data-source/source-config.js';

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

/** The rest of the round is for the age of the source and for the decision. */
const SHARE_FOR_QUERIES = 0.8;

/** Returns the time from the start of a round in which the answers to its queries must arrive. */
export function answerWithinSeconds({
  periodSeconds,
  seconds,
}: Pick<PlannedQuery, 'periodSeconds' | 'seconds'>): number {
  return Math.max(seconds, SHARE_FOR_QUERIES * periodSeconds);
}

export type QueryNeed = Extract<MetricNeed, { readonly kind: 'query' }>;

type ResourceNeed = Extract<MetricNeed, { readonly kind: 'resource' }>;

type PodsNeed = Extract<MetricNeed, { readonly kind: 'pods' }>;

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
  /** One for each namespace. */
  readonly owners: QueryOwner[];
  /** The shortest period, and the shortest `seconds`, of all scalers that need the query. */
  periodSeconds: number;
  seconds: number;
}

export interface PlannedResource {
  readonly source: SourceConfig;
  readonly resource: string;
  /** With the number of scalers that need the resource of their pods. */
  readonly namespaces: Map<string, number>;
  /** The shortest ones, as of a query. */
  periodSeconds: number;
  seconds: number;
}

/** A query for the pods of several workloads. */
export interface PlannedPods extends PlannedQuery {
  /** By the text of the pattern. */
  readonly workloads: Map<string, PodsPattern>;
}

type PlannedQueries = ReadonlyMap<string, PlannedQuery | PlannedPods>;

export interface RoundPlan {
  readonly queries: PlannedQueries;
  /** Ranking queries that no metric uses. */
  readonly rankings: PlannedQueries;
  readonly resources: ReadonlyMap<string, PlannedResource>;
}

/** Plans a round scaler by scaler, because all scalers of a large fleet in one task delay probes. */
interface RoundPlanner {
  readonly add: (needed: NeededScaler) => void;
  /** Returns each distinct query and each resource once, with the shortest time limit of all scalers that need it. */
  readonly plan: () => RoundPlan;
}

export function createRoundPlanner(): RoundPlanner {
  const queries = new Map<string, PlannedQuery | PlannedPods>();
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
          planResource(resources, scaler.namespace, { need, periodSeconds, seconds });
          continue;
        }
        const planned = { source, query: need.query, owners: ownersOf(scaler), periodSeconds, seconds };
        if (need.kind === 'pods') planPods(queries, need, planned);
        else planQuery(queries, need.key, planned);
        for (const query of checkQueriesOf(need))
          planQuery(queries, queryKey(source, query), { ...planned, query, owners: ownersOf(scaler) });
      }
    },
    plan: () => ({ queries, rankings: planRankings(ranked, queries), resources }),
  };
}

function planResource(
  resources: Map<string, PlannedResource>,
  namespace: string,
  {
    need,
    periodSeconds,
    seconds,
  }: { readonly need: ResourceNeed; readonly periodSeconds: number; readonly seconds: number },
): void {
  const known = resources.get(need.key);
  if (known === undefined) {
    const { source, resource } = need;
    const namespaces = new Map([[namespace, 1]]);
    resources.set(need.key, { source, resource, namespaces, periodSeconds, seconds });
    return;
  }
  known.namespaces.set(namespace, (known.namespaces.get(namespace) ?? 0) + 1);
  known.periodSeconds = Math.min(known.periodSeconds, periodSeconds);
  known.seconds = Math.min(known.seconds, seconds);
}

function ownersOf({ namespace, spec }: Scaler): QueryOwner[] {
  return [{ namespace, scaler: spec.scaleTargetRef.name }];
}

function planRankings(needed: readonly NeededScaler[], queries: PlannedQueries): PlannedQueries {
  const rankings = new Map<string, PlannedQuery | PlannedPods>();
  for (const { scaler, periodSeconds, ranking } of needed) {
    if (ranking?.kind !== 'query' && ranking?.kind !== 'pods') continue;
    const { key, source, query } = ranking;
    const seconds = queryDeadlineSeconds(source, periodSeconds);
    const planned = { source, query, owners: ownersOf(scaler), periodSeconds, seconds };
    const asked = queries.get(key);
    if (ranking.kind === 'query') {
      if (asked === undefined) planQuery(rankings, key, planned);
    } else if (asked === undefined || !isForPods(asked) || !asked.workloads.has(ranking.pods)) {
      planPods(rankings, ranking, planned);
    }
  }
  return rankings;
}

const NO_QUERIES: readonly string[] = [];

function checkQueriesOf(need: QueryNeed | PodsNeed): readonly string[] {
  if (need.kind === 'pods' || need.checks === null) return NO_QUERIES;
  const { checks } = need;
  return [checks.guard, checks.freshness?.query ?? null].filter((one) => one !== null);
}

export function isForPods(planned: PlannedQuery | PlannedPods | PlannedResource): planned is PlannedPods {
  return 'workloads' in planned;
}

function planPods(
  queries: Map<string, PlannedQuery | PlannedPods>,
  { key, pods, pattern }: PodsNeed,
  planned: PlannedQuery,
): void {
  const known = planQuery(queries, key, { ...planned, workloads: new Map<string, PodsPattern>() });
  if (isForPods(known)) known.workloads.set(pods, pattern);
}

function planQuery(
  queries: Map<string, PlannedQuery | PlannedPods>,
  key: string,
  planned: PlannedQuery | PlannedPods,
): PlannedQuery | PlannedPods {
  const known = queries.get(key);
  if (known === undefined) {
    queries.set(key, planned);
    return planned;
  }
  for (const owner of planned.owners)
    if (!known.owners.some(({ namespace }) => namespace === owner.namespace)) known.owners.push(owner);
  known.periodSeconds = Math.min(known.periodSeconds, planned.periodSeconds);
  known.seconds = Math.min(known.seconds, planned.seconds);
  return known;
}
