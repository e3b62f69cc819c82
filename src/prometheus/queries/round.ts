import type { Scaler } from '../../scaler/spec.js';
import type { Clock } from '../../units/clock.js';
import type { RecentMap } from '../../units/recent-map.js';
import { type Answer, INTERNAL_ERROR } from '../answers/answer.js';
import { type DuplicateWatch, resourceSuspect } from './duplicate-watch.js';
import { applyChecks, type MetricChecks } from './checks.js';
import type { PreparedRound } from './prepared-round.js';
import type { QueryOrder, QueryQueue } from '../source/queue.js';
import type { Recognition } from '../source/recognition.js';
import type { TimedAnswer } from './answer-kinds.js';
import { type SplitBudget, SPLITS_PER_NAMESPACE, SPLITS_PER_SOURCE } from './merged-query.js';
import { createPodsBatches, type PodsBatches } from './workloads.js';
import { createResourceBatches, type ResourceBatches } from './namespaces.js';
import {
  answerWithinSeconds,
  isForPods,
  type NeededScaler,
  type PlannedPods,
  type PlannedQuery,
  type PlannedResource,
} from './round-plan.js';
import type { SourceConfig } from '../data-source/source-config.js';
import { type MetricNeed, queryKey } from './compile.js';
import type { SampleAges } from './sample-ages.js';
import type { SourceAges } from '../source/age.js';

const RECOGNIZE_SECONDS = 2;
const LOOK_SECONDS = 10;

/** What lasts longer than a round. */
export interface KnownSource {
  readonly queue: QueryQueue;
  readonly recognition: Recognition;
  readonly ages: SourceAges;
  readonly sampleAges: SampleAges;
  readonly duplicates: DuplicateWatch | null;
  /** By flavor, resource, window and query. */
  readonly batches: Map<string, ResourceBatches>;
  /** By source, query without `$pods`, and sync period. */
  readonly podsBatches: RecentMap<string, PodsBatches>;
}

export interface RoundOrder {
  readonly known: ReadonlyMap<string, KnownSource>;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** A number that increases from round to round. */
  readonly round: number;
  /** The data sources with the windows of the round. */
  readonly sources: ReadonlyMap<string, SourceConfig>;
  /** Called with an internal error. The queries that it concerns have no value. */
  readonly onFault: (error: unknown) => void;
}

/** The running queries of a round. */
export interface StartedQueries {
  /** By the scaler that is due. */
  readonly needs: ReadonlyMap<Scaler, NeededScaler>;
  /** Resolves with the answer to the query of a need, for one of the scalers. */
  readonly answerOf: (need: MetricNeed, namespace: string) => Promise<Answer>;
}

type ResourceBatch = (namespace: string) => Promise<Answer>;

type PodsBatch = ReturnType<PodsBatches['ask']>;

/** Sends each query of the round. Yields after each of them. */
export function* startQueries(
  prepared: PreparedRound,
  order: RoundOrder,
): Generator<void, StartedQueries, void> {
  const { known, signal, clock, round, onFault } = order;
  const recognizing = new Map<string, Promise<void> | null>();
  for (const name of prepared.sourceNames)
    recognizing.set(name, mustGet(known, name).recognition.begin({ seconds: RECOGNIZE_SECONDS, signal }));
  const startMs = clock.monotonicMs();
  const untilMsOf = (planned: PlannedQuery | PlannedResource): number =>
    startMs + answerWithinSeconds(planned) * 1000;
  const budgetOf = createBudgets();
  const byResource = new Map<string, ResourceBatch>();
  const askResource = (key: string, planned: PlannedResource): void => {
    const { source, resource, namespaces, seconds } = planned;
    const ofSource = mustGet(known, source.name);
    const { queue, batches, duplicates } = ofSource;
    const budget = budgetOf(source.name, null);
    const queryOrder = { seconds, signal, round, untilMs: untilMsOf(planned) };
    const ask = (query: string): Promise<Answer> => queue.ask(query, queryOrder);
    const askTimed = (query: string): Promise<TimedAnswer> =>
      timed((onSeconds) => queue.ask(query, { ...queryOrder, onSeconds }));
    const begin = (): ResourceBatch => {
      const config = queryConfig(ofSource, mustGet(order.sources, source.name));
      const query = config.resourceQueries[resource] ?? '';
      const form = `${config.flavor}\n${resource}\n${config.resourceWindowSeconds}\n${query}`;
      let batch = batches.get(form);
      if (batch === undefined) batches.set(form, (batch = createResourceBatches(config, resource, onFault)));
      return batch.ask(namespaces, { round, budget, askQuery: askTimed, now: clock.now() });
    };
    const look = (): Promise<void> | null =>
      duplicates?.firstCheck(resourceSuspect(resource, [...namespaces.keys()]), ask) ?? null;
    const recognized = recognizing.get(source.name) ?? null;
    const waiting = recognized === null ? look() : recognized.then(look);
    const begun = waiting === null ? begin() : waiting.then(begin);
    byResource.set(key, oncePerNamespace(begun, onFault));
  };
  const onceRecognized = ({ name }: SourceConfig, ask: () => Promise<Answer>): Promise<Answer> =>
    recognizing.get(name)?.then(ask) ?? ask();
  const byQuery = new Map<string, Promise<Answer>>();
  const askQuery = (key: string, planned: PlannedQuery): void => {
    const { source, query, owners, periodSeconds, seconds } = planned;
    const { queue } = mustGet(known, source.name);
    const order = { seconds, signal, round, untilMs: untilMsOf(planned), owners, periodSeconds };
    byQuery.set(
      key,
      onceRecognized(source, () => queue.ask(query, order)),
    );
  };
  const byPods = new Map<string, PodsBatch[]>();
  const askPods = (key: string, planned: PlannedPods): void => {
    const { source, query, owners, periodSeconds, workloads, seconds } = planned;
    const { queue, podsBatches } = mustGet(known, source.name);
    const order = { seconds, signal, round, untilMs: untilMsOf(planned), owners, periodSeconds };
    const askTimed = (text: string): Promise<TimedAnswer> =>
      timed((onSeconds) => onceRecognized(source, () => queue.ask(text, { ...order, onSeconds })));
    const now = clock.now();
    const batches = podsBatches.get(key, now) ?? createPodsBatches(query, onFault);
    podsBatches.set(key, batches, now);
    const batch = batches.ask(workloads, {
      round,
      budget: budgetOf(source.name, owners.length === 1 ? (owners[0]?.namespace ?? null) : null),
      askQuery: askTimed,
      limit: seconds,
    });
    byPods.set(key, [...(byPods.get(key) ?? []), batch]);
  };
  const entries: readonly PlannedEntry[] = [...prepared.resources, ...prepared.queries];
  for (const entry of [...rotate(entries, round), ...rotate(prepared.rankings, round)]) {
    const [key, planned] = entry;
    if ('resource' in planned) askResource(key, planned);
    else if (isForPods(planned)) askPods(key, planned);
    else askQuery(key, planned);
    yield;
  }
  // The queries of a source may change once its server is recognized, so the check waits for that.
  checkDuplicates(prepared, order, (source) => (recognizing.get(source) ?? null) === null);

  return {
    needs: prepared.needs,
    answerOf: (need, namespace) => {
      if (need.kind === 'refused') return Promise.resolve(need.answer);
      const { source } = need;
      if (need.kind === 'resource') return mustGet(byResource, need.key)(namespace);
      if (need.kind === 'pods') return podsAnswer(mustGet(byPods, need.key), need.pods);
      const answer = mustGet(byQuery, need.key);
      if (need.checks === null) return answer;
      return checkedAnswer(answer, need.checks, (query) => mustGet(byQuery, queryKey(source, query)));
    },
  };
}

/** Returns the config of a data source with the queries that fit its server and its series, and the window of a round. */
export function queryConfig({ recognition, duplicates }: KnownSource, ofRound: SourceConfig): SourceConfig {
  const recognized = recognition.config();
  const config = duplicates?.adaptConfig(recognized) ?? recognized;
  const { resourceWindowSeconds, learnedIntervalSeconds } = ofRound;
  return learnedIntervalSeconds === undefined
    ? config
    : { ...config, resourceWindowSeconds, learnedIntervalSeconds };
}

type PlannedEntry = PreparedRound['queries'][number] | PreparedRound['resources'][number];

/** Returns a function that returns the budget of a source for a namespace; null: for queries for several of them. */
function createBudgets(): (source: string, namespace: string | null) => SplitBudget {
  const bySource = new Map<string, { left: number }>();
  const budgets = new Map<string, SplitBudget>();
  return (name, namespace) => {
    const source = bySource.get(name) ?? { left: SPLITS_PER_SOURCE };
    bySource.set(name, source);
    const key = `${name}\n${namespace ?? ''}`;
    const budget = budgets.get(key) ?? { left: SPLITS_PER_NAMESPACE, source };
    budgets.set(key, budget);
    return budget;
  };
}

async function timed(
  ask: (onSeconds: NonNullable<QueryOrder['onSeconds']>) => Promise<Answer>,
): Promise<TimedAnswer> {
  let took: number | null = null;
  let could: number | null = null;
  const answer = await ask((seconds, limit) => ([took, could] = [seconds, limit]));
  return { answer, seconds: took, limit: could };
}

/** The query of a ranking may be that of a metric, for other workloads. */
function podsAnswer(batches: readonly PodsBatch[], pods: string): Promise<Answer> {
  for (const batch of batches) {
    const answer = batch(pods);
    if (answer !== null) return answer;
  }
  throw new Error(`the pods ${pods} are not part of this round`);
}

/** The scalers of a namespace share the promise of its answer. */
function oncePerNamespace(
  begun: ResourceBatch | Promise<ResourceBatch>,
  onFault: (error: unknown) => void,
): ResourceBatch {
  const known = new Map<string, Promise<Answer>>();
  const begin = async (namespace: string): Promise<Answer> => {
    try {
      return await (
        await begun
      )(namespace);
    } catch (error) {
      onFault(error);
      return INTERNAL_ERROR;
    }
  };
  return (namespace) => {
    let answer = known.get(namespace);
    if (answer === undefined) known.set(namespace, (answer = begin(namespace)));
    return answer;
  };
}

/** Checks at most one suspect per source and round. */
function checkDuplicates(
  { suspects }: PreparedRound,
  { known, signal, round }: RoundOrder,
  isKnown: (source: string) => boolean,
): void {
  for (const [name, ofSource] of suspects) {
    if (!isKnown(name)) continue;
    const { queue, duplicates } = mustGet(known, name);
    duplicates?.checkOne(ofSource, (query) => queue.ask(query, { seconds: LOOK_SECONDS, signal, round }));
  }
}

async function checkedAnswer(
  asked: Promise<Answer>,
  checks: MetricChecks,
  answerTo: (query: string) => Promise<Answer>,
): Promise<Answer> {
  const [answer, guard, freshness] = await Promise.all([
    asked,
    checks.guard === null ? null : answerTo(checks.guard),
    checks.freshness === null ? null : answerTo(checks.freshness.query),
  ]);
  return applyChecks(checks, { answer, guard, freshness });
}

/**
 * Starts with a different query in each round. Otherwise the same queries would always miss a round that is too short,
 * and the same query would always be the one that tests a failing source.
 */
function rotate<T>(list: readonly T[], round: number): readonly T[] {
  if (list.length === 0) return list;
  const start = Math.floor((round * 0.618_033_988_749_895 * list.length) % list.length);
  return [...list.slice(start), ...list.slice(0, start)];
}

export function mustGet<K, V>(map: ReadonlyMap<K, V>, key: K): V {
  const value = map.get(key);
  if (value === undefined) throw new Error(`${String(key)} is not part of this round`);
  return value;
}
