import type { Scaler } from '../scaler/spec.js';
import type { Clock } from '../units/clock.js';
import { RecentMap } from '../units/recent-map.js';
import { type TurnedWork, workInTurns } from '../units/turned-work.js';
import type { Answer } from './answers/answer.js';
import { createPrometheusClient, type PrometheusClient, type SeriesCounts } from './client/client.js';
import type { SourceConfig } from './data-source/source-config.js';
import { createDuplicateWatch } from './queries/duplicate-watch.js';
import { createLearnedWindows, type LearnedWindows } from './queries/learned-windows.js';
import { createRoundPreparation, type RoundPreparation } from './queries/prepared-round.js';
import { createQueryQueue } from './source/queue.js';
import type { QueryReport } from './source/query-report.js';
import { createRecognition } from './source/recognition.js';
import { type DueScaler, type NeededScaler, queryDeadlineSeconds } from './queries/round-plan.js';
import { createSampleAges } from './queries/sample-ages.js';
import { createSourceAges, type SourceAge, UNKNOWN_AGE } from './source/age.js';
import {
  type KnownSource,
  mustGet,
  queryConfig,
  type RoundOrder,
  type StartedQueries,
  startQueries,
} from './queries/round.js';

export interface RoundAnswers {
  /**
   * Returns the answers for a due scaler, in the order of `spec.metrics`. Waits only for the queries of that scaler.
   * Rejects only for a scaler that is not due. Once all queries are sent, scalers with the same answer get the same
   * promise.
   */
  readonly of: (scaler: Scaler) => Promise<readonly Answer[]>;
  /** Settles when all queries are sent; null: they are. Unset: null. */
  readonly sending?: () => Promise<unknown> | null;
  /**
   * Returns the answer to the query that ranks the pods of a due scaler; null if its document has no such query. The
   * query is sent after the metrics of the round, and only the caller waits for it. Unset: the source ranks no pods.
   * Never rejects.
   */
  readonly ranking?: (scaler: Scaler) => Promise<Answer | null>;
  /**
   * Returns which metrics of a due scaler count duplicate series, as sentences, by the last check; null: no check has
   * found any. Unset: the source does not check.
   */
  readonly duplicates?: (scaler: Scaler) => readonly string[] | null;
  /**
   * Returns why the values of a due scaler may be based on old samples, in the order of `spec.metrics`; null: they are
   * not, the metric is not in `metrics`, or the source cannot be checked. For a decision that would lower the count: nothing
   * is queried before this call. Unset: the source does not check. Never rejects.
   */
  readonly whyOld?: (scaler: Scaler, checked: CheckedScaler) => Promise<readonly (string | null)[]>;
  /**
   * Returns the age of the data of the url that has answered, read after this call. Default: the worst of all urls. Never
   * rejects.
   */
  readonly ageOf: (source: string, urlIndex?: number) => Promise<SourceAge>;
  /** The data sources with the windows of the queries. Unset: those of the config. */
  readonly sources?: ReadonlyMap<string, SourceConfig>;
}

export interface CheckedScaler {
  /** Indexes of the metrics to check. */
  readonly metrics: ReadonlySet<number>;
  /** The names of the target's pods. */
  readonly pods: ReadonlySet<string>;
  /** Whether the result of the last minute is enough. */
  readonly mayBeKept: boolean;
}

interface MetricSource {
  /**
   * Sends each distinct query of the due scalers once. All are sent at the same time, within the limits of the sources:
   * with thousands of queries, in turns of 20 ms, and before those of the next round.
   */
  readonly startRound: (due: readonly DueScaler[], signal: AbortSignal) => RoundAnswers;
}

export interface MetricSourceOptions {
  readonly sources: ReadonlyMap<string, SourceConfig>;
  readonly clock: Clock;
  readonly onQuery: (report: QueryReport) => void;
  /** Called with an internal error of a query, which then fails. */
  readonly onFault?: (error: unknown) => void;
  /** Called for each query that is not sent because its namespace exceeds a limit of the source. */
  readonly onOverLimit?: (source: string, namespace: string) => void;
  /** Called once, with a corrected config, if the server of a source is not what its config assumes. */
  readonly onRecognized?: (config: SourceConfig) => void;
  /** Whether to check for duplicate series; default: false. */
  readonly seeksDuplicates?: boolean;
  /** Called after each round with the largest number of copies of any series of a source. */
  readonly onDuplicates?: (source: string, times: number) => void;
  /** Called after each round with the number of series in the answers of a source since the last call. */
  readonly onSeries?: (source: string, series: SeriesCounts) => void;
  readonly createClient?: (config: SourceConfig, clock: Clock) => PrometheusClient;
}

/** Longer than the longest sync period. What a deleted document has taught is then forgotten. */
const KEEP_BATCHES_SECONDS = 7200;

const LEARN_SECONDS = 10;

export function createMetricSource(options: MetricSourceOptions): MetricSource {
  const { sources, clock, onQuery, createClient = createPrometheusClient } = options;
  const { onRecognized, onDuplicates, onSeries, seeksDuplicates = false } = options;
  const { onFault = () => undefined } = options;
  const known = new Map<string, KnownSource>();
  const reports: (() => void)[] = [];
  for (const [name, config] of sources) {
    const client = createClient(config, clock);
    const queue = createQueryQueue({
      config,
      client,
      clock,
      onQuery,
      onFault,
      onOverLimit: (namespace) => options.onOverLimit?.(name, namespace),
    });
    const recognition = createRecognition({
      config,
      client,
      onRecognized: onRecognized ?? (() => undefined),
      onFault,
    });
    const duplicates = seeksDuplicates
      ? createDuplicateWatch({ config: recognition.config, clock, onFault })
      : null;
    if (duplicates !== null) reports.push(() => onDuplicates?.(name, duplicates.highestCount()));
    let counted: SeriesCounts = { known: 0, read: 0 };
    reports.push(() => {
      const series = { ...(client.series?.() ?? counted) };
      onSeries?.(name, { known: series.known - counted.known, read: series.read - counted.read });
      counted = series;
    });
    known.set(name, {
      queue,
      recognition,
      duplicates,
      ages: createSourceAges({
        servers: client.servers ?? [client],
        scrapeIntervalSeconds: config.scrapeIntervalSeconds,
        clock,
        onFault,
      }),
      sampleAges: createSampleAges(clock),
      batches: new Map(),
      podsBatches: new RecentMap(KEEP_BATCHES_SECONDS),
    });
  }
  const preparation = createRoundPreparation();
  const windows = createLearnedWindows({ sources, clock, onFault });
  let rounds = 0;
  let last: TurnedWork<StartedQueries> | null = null;

  return {
    startRound: (due, signal) => {
      // The queries of a round are sent before those of the next one.
      last?.hurry();
      rounds += 1;
      const order = { known, signal, clock, round: rounds, onFault, sources: windows.sources() };
      const starting = workInTurns(clock, startDue(due, { preparation, order, reports, windows }));
      last = starting;
      return roundAnswers(starting, order);
    },
  };
}

function* startDue(
  due: readonly DueScaler[],
  parts: {
    readonly preparation: RoundPreparation;
    readonly order: RoundOrder;
    readonly reports: readonly (() => void)[];
    readonly windows: LearnedWindows;
  },
): Generator<void, StartedQueries, void> {
  const { preparation, order, reports, windows } = parts;
  const prepared = yield* preparation.prepare(due, order.sources);
  for (const report of reports) report();
  const started = yield* startQueries(prepared, order);
  const { known, signal, round } = order;
  for (const name of prepared.sourceNames) {
    const source = mustGet(known, name);
    windows.learn(queryConfig(source, mustGet(order.sources, name)), {
      scalers: () => prepared.needs.keys(),
      ask: (query) => source.queue.ask(query, { seconds: LEARN_SECONDS, signal, round }),
    });
  }
  return started;
}

function roundAnswers(
  starting: TurnedWork<StartedQueries>,
  { known, signal, round, sources }: RoundOrder,
): RoundAnswers {
  const lists = new Map<Promise<Answer>, Promise<readonly Answer[]>>();
  const listOf = (answer: Promise<Answer>): Promise<readonly Answer[]> => {
    let list = lists.get(answer);
    if (list === undefined) lists.set(answer, (list = answer.then((one) => [one])));
    return list;
  };
  const answersOf = (scaler: Scaler, { needs, answerOf }: StartedQueries): Promise<readonly Answer[]> => {
    const needed = needs.get(scaler);
    if (needed === undefined) return Promise.reject(notInRound(scaler));
    const { metrics } = needed;
    const [need] = metrics;
    return need !== undefined && metrics.length === 1
      ? listOf(answerOf(need, scaler.namespace))
      : Promise.all(metrics.map((each) => answerOf(each, scaler.namespace)));
  };
  /** Scalers that scale down in the same round share queries. */
  const askedAges = new Map<string, Promise<Answer>>();
  /** Null also after an error, with which `finished` rejects. */
  const started = (): StartedQueries | null => {
    try {
      return starting.result()?.value ?? null;
    } catch {
      return null;
    }
  };
  const of = (scaler: Scaler): Promise<readonly Answer[]> => {
    const queries = started();
    return queries === null
      ? starting.finished.then((sent) => answersOf(scaler, sent))
      : answersOf(scaler, queries);
  };
  return {
    of,
    sources,
    sending: () => (started() === null ? starting.finished : null),
    ranking: async (scaler) => {
      const { needs, answerOf } = starting.result()?.value ?? (await starting.finished);
      const ranking = needs.get(scaler)?.ranking ?? null;
      return ranking === null ? null : answerOf(ranking, scaler.namespace);
    },
    duplicates: (scaler) => describeDuplicates(neededBy(scaler, starting.finish().needs), known),
    whyOld: async (scaler, { metrics, ...checked }) => {
      const answers = await of(scaler);
      return Promise.all(
        scaler.spec.metrics.map(async (metric, index) => {
          const source = known.get(metric.source);
          if (source === undefined || !metrics.has(index)) return null;
          const { queue, sampleAges } = source;
          const config = queryConfig(source, mustGet(sources, metric.source));
          const seconds = queryDeadlineSeconds(config, scaler.spec.syncPeriodSeconds);
          const owners = [{ namespace: scaler.namespace, scaler: scaler.name }];
          const ask = (query: string, left: number): Promise<Answer> => {
            const key = `${metric.source}\n${query}`;
            let answer = askedAges.get(key);
            if (answer === undefined) {
              answer = queue.ask(query, { seconds: left, signal, round, owners });
              askedAges.set(key, answer);
            }
            return answer;
          };
          const answer = answers[index];
          const valueAtSeconds =
            answer !== undefined && 'evaluatedAt' in answer ? answer.evaluatedAt / 1000 : null;
          return sampleAges.check({ scaler, metric, config, seconds, valueAtSeconds, ...checked }, ask);
        }),
      );
    },
    ageOf: (source, urlIndex) =>
      known.get(source)?.ages.read(signal, urlIndex) ?? Promise.resolve(UNKNOWN_AGE),
  };
}

function neededBy(scaler: Scaler, needs: ReadonlyMap<Scaler, NeededScaler>): NeededScaler {
  const needed = needs.get(scaler);
  if (needed === undefined) throw notInRound(scaler);
  return needed;
}

function notInRound(scaler: Scaler): Error {
  return new Error(`${scaler.key} is not part of this round`);
}

function describeDuplicates(
  { scaler, suspects }: NeededScaler,
  known: ReadonlyMap<string, KnownSource>,
): readonly string[] | null {
  const told = suspects.flatMap((suspect, index) => {
    if (suspect === null) return [];
    const words = mustGet(known, suspect.source).duplicates?.describe(suspect, scaler.namespace);
    if (words == null) return [];
    return [words === '' ? '' : `metric "${scaler.spec.metrics[index]?.identity ?? ''}": ${words}`];
  });
  return told.length === 0 ? null : told.filter((words) => words !== '');
}
