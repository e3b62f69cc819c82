import { type Scaler, scalerKey } from '../scaler/spec.js';
import type { Clock } from '../units/clock.js';
import type { Instant } from '../units/time.js';
import type { Answer } from './answer.js';
import { createPrometheusClient, type PrometheusClient } from './client.js';
import { applyChecks } from './metric-checks.js';
import { createQueryQueue, type QueryQueue, type QueryReport } from './query-queue.js';
import { createRefusedQueries, type RefusedQueries } from './refused-queries.js';
import { createResourceBatches, type ResourceBatches } from './resource-batches.js';
import { metricNeeds, rankingNeed, type MetricNeed } from './scaler-queries.js';
import type { SourceConfig } from './source-config.js';

/** A scaler that decides in this round, and its rhythm, of which a query may take half. */
export interface DueScaler {
  readonly scaler: Scaler;
  readonly periodSeconds: number;
}

/** What the sources answer in one round. */
export interface RoundAnswers {
  /** The answers of a due scaler, in the order of `spec.metrics`; waits for its own queries only. Rejects only for a scaler that was not due. */
  readonly of: (scalerKey: string) => Promise<readonly Answer[]>;
  /**
   * What ranks the pods of a due scaler; null where its document ranks none. Asked after the metrics of the round, and
   * waited for by nobody else. Left out by a source that asks no rankings. Never rejects.
   */
  readonly ranking?: (scalerKey: string) => Promise<Answer | null>;
  /** When the server behind a source began to run, asked at most once in the round; null: unknown. Never rejects. */
  readonly startTime: (source: string) => Promise<Instant | null>;
}

/** The metrics of all scalers. */
export interface MetricSource {
  /** Asks each distinct query of the due scalers once, all at the same time within the sources' budgets. */
  readonly startRound: (due: readonly DueScaler[], signal: AbortSignal) => RoundAnswers;
}

export interface MetricSourceOptions {
  /** By name. */
  readonly sources: ReadonlyMap<string, SourceConfig>;
  readonly clock: Clock;
  readonly onQuery: (report: QueryReport) => void;
  /** How a source is asked; over HTTP unless said otherwise. */
  readonly createClient?: (config: SourceConfig, clock: Clock) => PrometheusClient;
}

const START_TIME_TIMEOUT_SECONDS = 2;
const LEAST_DEADLINE_SECONDS = 1;

/** The deadline of one query over all urls of its source: half the period, at most the timeout, at least 1 s. */
export function queryDeadlineSeconds(source: SourceConfig, periodSeconds: number): number {
  return Math.max(LEAST_DEADLINE_SECONDS, Math.min(source.timeoutSeconds, periodSeconds / 2));
}

/** A source with what outlives a round. */
interface Asked {
  readonly config: SourceConfig;
  readonly queue: QueryQueue;
  readonly batches: Map<string, ResourceBatches>;
  readonly refused: RefusedQueries;
}

/** The planner: which queries a round needs, each asked once. */
export function createMetricSource(options: MetricSourceOptions): MetricSource {
  const { sources, clock, onQuery, createClient = createPrometheusClient } = options;
  const asked = new Map<string, Asked>();
  for (const [name, config] of sources) {
    const queue = createQueryQueue({ config, client: createClient(config, clock), clock, onQuery });
    asked.set(name, { config, queue, batches: new Map(), refused: createRefusedQueries(clock) });
  }
  /** A document is frozen, so its queries are written once. */
  const needsOf = new WeakMap<Scaler, Needs>();
  let rounds = 0;

  return {
    startRound: (due, signal) => {
      rounds += 1;
      const needed = due.map(({ scaler, periodSeconds }) => {
        let needs = needsOf.get(scaler);
        if (needs === undefined) {
          needs = { metrics: metricNeeds(scaler, sources), ranking: rankingNeed(scaler, sources) };
          needsOf.set(scaler, needs);
        }
        return { scaler, periodSeconds, ...needs };
      });
      const plan = planRound(needed);
      return runRound({ plan, needed, asked, signal, round: rounds });
    },
  };
}

type QueryNeed = Extract<MetricNeed, { readonly kind: 'query' }>;

interface Needs {
  readonly metrics: readonly MetricNeed[];
  /** Null: its pods are not ranked. */
  readonly ranking: MetricNeed | null;
}

interface NeededScaler extends DueScaler, Needs {}

interface PlannedQuery {
  readonly source: SourceConfig;
  readonly query: string;
  /** The shortest of those who ask it, as `seconds` is. */
  periodSeconds: number;
  seconds: number;
}

interface PlannedResource {
  readonly source: SourceConfig;
  readonly resource: string;
  readonly namespaces: Set<string>;
  seconds: number;
}

interface RoundPlan {
  readonly queries: ReadonlyMap<string, PlannedQuery>;
  /** Those that no metric asks. */
  readonly rankings: ReadonlyMap<string, PlannedQuery>;
  readonly resources: ReadonlyMap<string, PlannedResource>;
}

/** Each distinct query and each resource once, with the shortest deadline of those who need it. */
function planRound(needed: readonly NeededScaler[]): RoundPlan {
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

/** The query of a metric, and those that say whether it can be believed. */
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

function keyOf({ name }: SourceConfig, asked: string): string {
  return `${name}\n${asked}`;
}

function runRound(input: {
  readonly plan: RoundPlan;
  readonly needed: readonly NeededScaler[];
  readonly asked: ReadonlyMap<string, Asked>;
  readonly signal: AbortSignal;
  readonly round: number;
}): RoundAnswers {
  const { plan, needed, asked, signal, round } = input;
  const byResource = new Map<string, (namespace: string) => Promise<Answer>>();
  const askResource = ([key, { source, resource, namespaces, seconds }]: [string, PlannedResource]): void => {
    const { queue, batches } = mustGet(asked, source.name);
    let batch = batches.get(resource);
    if (batch === undefined) batches.set(resource, (batch = createResourceBatches(source, resource)));
    byResource.set(
      key,
      batch.ask(Array.from(namespaces), (query) => queue.ask(query, { seconds, signal, round })),
    );
  };
  const byQuery = new Map<string, Promise<Answer>>();
  const askQuery = ([key, { source, query, periodSeconds, seconds }]: [string, PlannedQuery]): void => {
    const { queue, refused } = mustGet(asked, source.name);
    const ask = (): Promise<Answer> => queue.ask(query, { seconds, signal, round });
    byQuery.set(key, refused.ask(query, periodSeconds, ask));
  };
  const asks = [
    ...Array.from(plan.resources, (entry) => () => askResource(entry)),
    ...Array.from(plan.queries, (entry) => () => askQuery(entry)),
  ];
  const last = Array.from(plan.rankings, (entry) => () => askQuery(entry));
  for (const ask of [...rotate(asks, round), ...rotate(last, round)]) ask();
  const needsByScaler = new Map(needed.map((one) => [scalerKey(one.scaler), one]));
  const startTimes = new Map<string, Promise<Instant | null>>();

  const answerOf = (need: MetricNeed, scaler: Scaler): Promise<Answer> => {
    if (need.kind === 'refused') return Promise.resolve(need.answer);
    const { source } = need;
    if (need.kind === 'resource') return mustGet(byResource, keyOf(source, need.resource))(scaler.namespace);
    return checkedAnswer(need, (query) => mustGet(byQuery, keyOf(source, query)));
  };

  return {
    of: async (key) => {
      const { scaler, metrics } = mustGet(needsByScaler, key);
      return Promise.all(metrics.map((need) => answerOf(need, scaler)));
    },
    ranking: async (key) => {
      const known = needsByScaler.get(key);
      return known === undefined || known.ranking === null ? null : answerOf(known.ranking, known.scaler);
    },
    startTime: (source) => {
      const known = startTimes.get(source);
      if (known !== undefined) return known;
      const queue = asked.get(source)?.queue;
      if (queue === undefined) return Promise.resolve(null);
      const startTime = queue.startTime({ seconds: START_TIME_TIMEOUT_SECONDS, signal });
      startTimes.set(source, startTime);
      return startTime;
    },
  };
}

/** The answer of a metric's query, judged by the answers to its guard and its freshness. */
async function checkedAnswer(
  { query, checks }: QueryNeed,
  answerTo: (query: string) => Promise<Answer>,
): Promise<Answer> {
  if (checks === null) return answerTo(query);
  const [answer, guard, freshness] = await Promise.all([
    answerTo(query),
    checks.guard === null ? null : answerTo(checks.guard),
    checks.freshness === null ? null : answerTo(checks.freshness.query),
  ]);
  return applyChecks(checks, { answer, guard, freshness });
}

/**
 * Another one first in each round: where the budget does not reach all, it is not always the same that go without, and
 * it is not always the same that tries a source that failed.
 */
function rotate<T>(list: readonly T[], round: number): readonly T[] {
  if (list.length === 0) return list;
  const start = Math.floor((round * 0.618_033_988_749_895 * list.length) % list.length);
  return [...list.slice(start), ...list.slice(0, start)];
}

function mustGet<K, V>(map: ReadonlyMap<K, V>, key: K): V {
  const value = map.get(key);
  if (value === undefined) throw new Error(`${String(key)} is not part of this round`);
  return value;
}
