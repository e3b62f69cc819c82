import type { LoadHistory } from '../../decision/snapshot/snapshot.js';
import type { MetricSpec, Scaler } from '../../scaler/spec.js';
import type { Instant } from '../../units/time.js';
import { type Clock, takeTurns } from '../../units/clock.js';
import { type Answer, INTERNAL_ERROR } from '../answers/answer.js';
import type { SourceConfig } from '../data-source/source-config.js';
import { type SourceAges, UNKNOWN_AGE } from '../source/age.js';
import type { LoadHistories } from './load-histories.js';
import type { SendOptions, QueryQueue } from '../source/queue.js';
import type { Recognition } from '../source/recognition.js';
import type { CapacityReading, CapacityWatch } from './capacity-watch.js';
import { type Collector, createCollector, type Readings, type ReadyQueue } from './collect.js';
import type { Plan, PlannedQuery } from './plan-round.js';
import { type DuplicateWatch, resourceCandidate } from './duplicate-watch.js';
import {
  type SplitBudget,
  SPLITS_PER_NAMESPACE,
  SPLITS_PER_SOURCE,
  type TimedAnswer,
} from './merged-query.js';
import type { SampleAges } from './sample-ages.js';
import { ownKey, type ScalerQueries } from './compile-queries.js';
import { type TotalLoad, totalLoad, windowOfMetric } from './total-load.js';

/** The parts of a data source that are kept from round to round. */
export interface Source {
  readonly queue: QueryQueue;
  readonly recognition: Recognition;
  readonly ages: SourceAges;
  readonly sampleAges: SampleAges;
  readonly histories: LoadHistories;
  readonly duplicates: DuplicateWatch | null;
}

export interface RoundInput {
  readonly sources: ReadonlyMap<string, Source>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Increases from round to round. */
  readonly number: number;
  /** Monotonic time in milliseconds at which the round began. */
  readonly startMs: number;
  readonly ready: ReadyQueue;
  readonly capacities: CapacityWatch;
  /** Called once for each scaler of the round. Must not throw. */
  readonly onReady: OnReady;
  /** Called with an internal error. The queries that it affects have no value. */
  readonly onFault: (error: unknown) => void;
}

export type OnReady = (scaler: Scaler, readings: Readings, followUps: FollowUps) => void;

/** Queries that are sent only if the decision needs them, and facts that the data sources know. */
export interface FollowUps {
  /**
   * Returns the answer to the query that ranks the pods of a due scaler; null: its document has no such query. The
   * query is sent after those of the metrics, and the round does not wait for it. Unset: the source ranks no pods.
   * Never rejects.
   */
  readonly ranking?: (scaler: Scaler) => Promise<Answer | null>;
  /**
   * Returns a sentence for each metric of a due scaler in which the last check found duplicate series; null: no check
   * has ever found any. Unset: the source does not check.
   */
  readonly duplicates?: (scaler: Scaler) => readonly string[] | null;
  /**
   * Returns why the values of a due scaler may be based on old samples, in the order of `spec.metrics`. Null: the value
   * is not based on old samples, the metric is not in `metrics`, or the source cannot be checked. Called only for
   * decisions that would lower the count, because each call sends queries. Unset: the source does not check. Never
   * rejects.
   */
  readonly whyOld?: (scaler: Scaler, checked: CheckedScaler) => Promise<readonly (string | null)[]>;
  /**
   * Returns the load of earlier days for the forecast of a due scaler. Undefined: nothing was read yet, or the document
   * has no forecast. Unset: the source reads no such loads.
   */
  readonly loadHistory?: (scaler: Scaler, asked: HistoryOrder) => LoadHistory | undefined;
  /** Returns the last measured capacity of a metric with `capacity.auto`, or null. Unset: nothing is measured. */
  readonly capacityOf?: (scaler: Scaler, metric: MetricSpec) => CapacityReading | null;
  /** The data sources with the windows with which the queries of this round were sent. Unset: those of the config. */
  readonly sources?: ReadonlyMap<string, SourceConfig>;
}

export interface HistoryOrder {
  readonly now: Instant;
  /** The seconds that pods take to become ready; null: not known yet. */
  readonly podStartSeconds: number | null;
}

export interface CheckedScaler {
  /** Indexes of the metrics to check. */
  readonly metrics: ReadonlySet<number>;
  /** The names of the target's pods. */
  readonly pods: ReadonlySet<string>;
  /** Whether a result of the last minute may be used again. */
  readonly mayBeKept: boolean;
}

const RECOGNIZE_SECONDS = 2;
const DUPLICATES_SECONDS = 10;
const LEAST_DEADLINE_SECONDS = 1;
/** Share of a round that is for queries. The rest is for reading the ages of the sources and for deciding. */
const SHARE_FOR_QUERIES = 0.8;

/**
 * Returns the time limit of a query over all urls of its source: the timeout of the source or half the period,
 * whichever is shorter, but at least 1 s.
 */
export function queryDeadlineSeconds(source: SourceConfig, periodSeconds: number): number {
  return Math.max(LEAST_DEADLINE_SECONDS, Math.min(source.timeoutSeconds, periodSeconds / 2));
}

/**
 * Sends each query of a plan once, and calls `onReady` for each scaler when it has all its answers. Resolves when all
 * queries are queued, not when they are answered. Yields to the event loop every 20 ms.
 */
export async function sendRound(plan: Plan, round: RoundInput): Promise<void> {
  const { sources, clock, signal, number, startMs, onFault } = round;
  const recognizing = recognizeSources(plan, round);
  const budgetOf = createBudgets();
  const answers = createCollector(plan, {
    sinceMs: startMs,
    readAge: (source, urlIndex) =>
      sources.get(source)?.ages.read(signal, urlIndex) ?? Promise.resolve(UNKNOWN_AGE),
    ready: round.ready,
    onReady: (scaler, readings) => round.onReady(scaler, readings, followUps),
    onFault,
  });
  const followUps = createFollowUps(plan, round, answers);

  const orderOf = (source: SourceConfig): SendOptions => {
    const seconds = queryDeadlineSeconds(source, plan.periodSeconds);
    const untilMs = startMs + Math.max(seconds, SHARE_FOR_QUERIES * plan.periodSeconds) * 1000;
    return { seconds, signal, round: number, untilMs };
  };
  const takeAll = (
    keys: ReadonlyMap<string, string>,
    answerOf: (part: string) => Promise<Answer> | null,
  ): Promise<unknown> =>
    Promise.all(
      Array.from(keys, async ([part, key]) => answers.take(key, (await answerOf(part)) ?? INTERNAL_ERROR)),
    );
  const send = async (query: PlannedQuery): Promise<void> => {
    const { name } = query.source;
    const source = mustGet(sources, name);
    const { queue, duplicates } = source;
    const recognized = recognizing.get(name) ?? null;
    if (recognized !== null) await recognized;
    if (query.kind === 'namespaces') {
      const order = orderOf(query.source);
      const candidate = resourceCandidate(query.resource, [...query.namespaces.keys()]);
      const check = duplicates?.firstCheck(candidate, (text) => queue.query(text, order)) ?? null;
      if (check !== null) await check;
      const answerOf = query.merged.send(query.namespaces, {
        round: number,
        budget: budgetOf(name, null),
        source: queryConfig(source, query.source),
        query: (text) => timed((onSeconds) => queue.query(text, { ...order, onSeconds })),
        now: clock.now(),
      });
      await takeAll(query.keys, answerOf);
      return;
    }
    const owners = [...query.owners.values()];
    const order = { ...orderOf(query.source), owners, periodSeconds: plan.periodSeconds };
    if (query.kind === 'own') {
      answers.take(query.key, await queue.query(query.text, order));
      return;
    }
    const answerOf = query.merged.send(query.patterns, {
      round: number,
      budget: budgetOf(name, owners.length === 1 ? (owners[0]?.namespace ?? null) : null),
      query: (text) => timed((onSeconds) => queue.query(text, { ...order, onSeconds })),
      limit: order.seconds,
    });
    await takeAll(query.keys, answerOf);
  };

  const takeTurn = takeTurns(clock);
  for (const query of [...rotate(plan.queries, number), ...rotate(plan.rankings, number)]) {
    send(query).catch((error: unknown) => {
      onFault(error);
      for (const key of query.kind === 'own' ? [query.key] : query.keys.values())
        answers.take(key, INTERNAL_ERROR);
    });
    await takeTurn();
  }
  checkDuplicates(plan, round, (source) => (recognizing.get(source) ?? null) === null);
}

/** Returns the config of a source with the queries for its server and series, and with the window of a round. */
export function queryConfig({ recognition, duplicates }: Source, ofRound: SourceConfig): SourceConfig {
  const recognized = recognition.config();
  const config = duplicates?.adaptConfig(recognized) ?? recognized;
  const { resourceWindowSeconds, learnedIntervalSeconds } = ofRound;
  return learnedIntervalSeconds === undefined
    ? config
    : { ...config, resourceWindowSeconds, learnedIntervalSeconds };
}

/**
 * Starts the recognition of the servers. Only the first round waits for it. Until it succeeds, later rounds use the
 * queries of the config.
 */
function recognizeSources(
  { queries, rankings }: Plan,
  { sources, signal }: RoundInput,
): ReadonlyMap<string, Promise<void> | null> {
  const names = new Set([...queries, ...rankings].map(({ source }) => source.name));
  const begin = (name: string): Promise<void> | null =>
    mustGet(sources, name).recognition.begin({ seconds: RECOGNIZE_SECONDS, signal });
  return new Map(Array.from(names, (name) => [name, begin(name)]));
}

/**
 * Returns the list rotated by a number that differs in each round. If every round started with the same query, a round
 * that is too short would always miss the same queries, and the same query would always test a failing source.
 */
function rotate<T>(list: readonly T[], round: number): readonly T[] {
  if (list.length === 0) return list;
  const start = Math.floor((round * 0.618_033_988_749_895 * list.length) % list.length);
  return [...list.slice(start), ...list.slice(0, start)];
}

/** Returns a function that returns the budget of a source and namespace; null: for queries of several namespaces. */
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
  query: (onSeconds: NonNullable<SendOptions['onSeconds']>) => Promise<Answer>,
): Promise<TimedAnswer> {
  let took: number | null = null;
  let could: number | null = null;
  const answer = await query((seconds, limit) => ([took, could] = [seconds, limit]));
  return { answer, seconds: took, limit: could };
}

/** Checks at most one query of each source in a round. */
function checkDuplicates(
  { candidates }: Plan,
  { sources, signal, number: round }: RoundInput,
  isRecognized: (source: string) => boolean,
): void {
  for (const [name, ofSource] of candidates) {
    // Not before the server is recognized, because the queries of the source may change then.
    if (!isRecognized(name)) continue;
    const { queue, duplicates } = mustGet(sources, name);
    duplicates?.checkOne(ofSource, (text) =>
      queue.query(text, { seconds: DUPLICATES_SECONDS, signal, round }),
    );
  }
}

function createFollowUps(
  plan: Plan,
  { sources, signal, number: round, capacities }: RoundInput,
  answers: Collector,
): FollowUps {
  const queriesOf = (scaler: Scaler): ScalerQueries => mustGet(plan.queriesOf, scaler, scaler.key);
  /** The age queries of this round, which scalers that scale down in the same round share. */
  const ageQueries = new Map<string, Promise<Answer>>();
  return {
    ranking: async (scaler) => {
      const { ranking } = queriesOf(scaler);
      if (ranking === null) return null;
      if (ranking.kind === 'refused') return ranking.answer;
      return answers.wait(ranking.key);
    },
    duplicates: (scaler) => describeDuplicates(queriesOf(scaler), sources),
    capacityOf: capacities.readingOf,
    sources: plan.sources,
    loadHistory: (scaler, { now, podStartSeconds }) => {
      const { forecast, metrics } = scaler.spec;
      const metric = forecast === null ? undefined : metrics[forecast.metric];
      const source = metric === undefined ? undefined : sources.get(metric.source);
      if (forecast === null || metric === undefined || source === undefined) return undefined;
      if (queriesOf(scaler).metrics[forecast.metric]?.kind === 'refused') return undefined;
      const ofRound = mustGet(plan.sources, metric.source);
      const startSeconds = forecast.leadSeconds ?? podStartSeconds;
      if (startSeconds === null) return NO_LEAD;
      const leadSeconds =
        forecast.leadSeconds ??
        Math.ceil(startSeconds + windowOfMetric(metric, queryConfig(source, ofRound)));
      const load = (): TotalLoad | null => totalLoad(metric, scaler, queryConfig(source, ofRound));
      return source.histories.read({ scaler, forecast, load, leadSeconds, now }, signal);
    },
    whyOld: async (scaler, { metrics, ...checked }) => {
      const queries = queriesOf(scaler);
      return Promise.all(
        scaler.spec.metrics.map(async (metric, index) => {
          const source = sources.get(metric.source);
          if (source === undefined || !metrics.has(index)) return null;
          const { queue, sampleAges } = source;
          const config = queryConfig(source, mustGet(plan.sources, metric.source));
          const seconds = queryDeadlineSeconds(config, scaler.spec.syncPeriodSeconds);
          const owners = [{ namespace: scaler.namespace, scaler: scaler.name }];
          const query = (text: string, left: number): Promise<Answer> => {
            const key = ownKey(config, text);
            let answer = ageQueries.get(key);
            if (answer === undefined) {
              answer = queue.query(text, { seconds: left, signal, round, owners });
              ageQueries.set(key, answer);
            }
            return answer;
          };
          const sent = queries.metrics[index];
          const answer = sent === undefined || sent.kind === 'refused' ? undefined : answers.get(sent.key);
          const valueAtSeconds =
            answer !== undefined && 'evaluatedAt' in answer ? answer.evaluatedAt / 1000 : null;
          return sampleAges.check({ scaler, metric, config, seconds, valueAtSeconds, ...checked }, query);
        }),
      );
    },
  };
}

const NO_LEAD: LoadHistory = {
  leadSeconds: 0,
  highest: 0,
  seasons: [],
  unusable: 'the pod start time is not known yet: no pod was seen to become ready',
};

function describeDuplicates(
  { scaler, metrics, candidates }: ScalerQueries,
  sources: ReadonlyMap<string, Source>,
): readonly string[] | null {
  const sentences = candidates.flatMap((candidate, index) => {
    const metric = metrics[index];
    if (candidate === null || metric === undefined || metric.kind === 'refused') return [];
    const finding = mustGet(sources, metric.source.name).duplicates?.describe(candidate, scaler.namespace);
    if (finding == null) return [];
    return [finding === '' ? '' : `metric "${scaler.spec.metrics[index]?.identity ?? ''}": ${finding}`];
  });
  return sentences.length === 0 ? null : sentences.filter((sentence) => sentence !== '');
}

function mustGet<K, V>(map: ReadonlyMap<K, V>, key: K, name = String(key)): V {
  const value = map.get(key);
  if (value === undefined) throw new Error(`${name} is not part of this round`);
  return value;
}
