import type { LoadAhead } from '../decision/forecast/propose-forecast.js';
import type { Scaler } from '../scaler/spec.js';
import { type Clock, createReadyQueue } from '../units/clock.js';
import { type Answer, INTERNAL_ERROR } from './answers/answer.js';
import { createPrometheusClient, type PrometheusClient } from './client/client.js';
import type { SeriesCounts } from './client/url-client.js';
import type { RangeAnswer } from './answers/classify.js';
import { createRangeClient, type RangeClient, type RangeQuery, untilIdle } from './client/range-client.js';
import type { SourceConfig } from './data-source/source-config.js';
import { createCapacityWatch } from './queries/capacity-watch.js';

import { queryConfig, type Source } from './queries/follow-ups.js';
import { createRoundPlanner, type Plan } from './queries/plan-round.js';
import { createDuplicateWatch } from './queries/duplicate-watch.js';
import { createLearnedWindows, type LearnedWindows } from './queries/learned-windows.js';
import { type OnReady, type RoundInput, sendRound, type Readings } from './queries/round.js';
import { createSampleAges } from './queries/sample-ages.js';
import { createSourceAges } from './source/age.js';
import { createLoadHistories } from './queries/load-histories.js';
import { createQueryQueue, type QueryReport } from './source/queue.js';
import { createRecognition } from './source/recognition.js';

export interface MetricSource {
  /** Compiles the queries of these scalers and forgets those of other scalers. Yields to the event loop every 20 ms. */
  readonly setScalers: (scalers: readonly Scaler[]) => void;
  /**
   * Sends each distinct query of the due scalers once, before the next round begins and within the limits of the data
   * sources. Calls `onReady` for each scaler when all its answers have arrived. All scalers must have the same sync
   * period.
   */
  readonly startRound: (due: readonly Scaler[], signal: AbortSignal, onReady: OnReady) => void;
  /** Returns null if the data source does not exist. */
  readonly historyOf: (source: string) => HistorySource | null;
  /** Returns the predicted load; null: the scaler has no forecast, or the load of earlier days was not read yet. */
  readonly loadAhead: (scaler: Scaler) => LoadAhead | null;
}

/** Sends range queries for back-tests, one at a time, and only while no query of a round is running. */
export interface HistorySource {
  /** The config, corrected for the recognized server. */
  readonly config: SourceConfig;
  readonly queryRange: (
    query: RangeQuery,
    options: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ) => Promise<RangeAnswer>;
}

export interface MetricSourceOptions {
  readonly sources: ReadonlyMap<string, SourceConfig>;
  readonly clock: Clock;
  readonly onQuery: (report: QueryReport) => void;
  /** Called if a query fails with an internal error. */
  readonly onFault?: (error: unknown) => void;
  /** Called for each query that is not sent because a namespace exceeds a limit of the data source. */
  readonly onOverLimit?: (source: string, namespace: string) => void;
  /** Called once, with the corrected config, if the server of a data source is not what its config assumes. */
  readonly onRecognized?: (config: SourceConfig) => void;
  /** Whether to check for duplicate series; default: false. */
  readonly seeksDuplicates?: boolean;
  /** Called after each round with the highest number of copies of one series in a data source. */
  readonly onDuplicates?: (source: string, times: number) => void;
  /** Called after each round with the number of series that a data source returned since the last call. */
  readonly onSeries?: (source: string, series: SeriesCounts) => void;
  readonly createClient?: (config: SourceConfig, clock: Clock) => PrometheusClient;
  /** Creates the client that reads the loads of earlier days, once a document has a forecast. */
  readonly createRangeClient?: ((config: SourceConfig) => RangeClient) | undefined;
  /** Called after each query for the load of an earlier day. `reason`: why the query failed; null: it was answered. */
  readonly onHistoryQuery?: (source: string, reason: string | null) => void;
}

const LEARN_SECONDS = 10;
const CAPACITY_SECONDS = 30;

/** Limits an answer to a range query. The load of a day takes 6 kB, a part of a history 100 kB for each series. */
const MOST_HISTORY_BYTES = 1024 * 1024;

export function createMetricSource(options: MetricSourceOptions): MetricSource {
  const { clock, onFault = () => undefined } = options;
  const reports: (() => void)[] = [];
  const sources = new Map(
    Array.from(options.sources, ([name, config]) => [name, openSource(config, options, reports)]),
  );
  const planner = createRoundPlanner(clock, onFault);
  const windows = createLearnedWindows({ sources: options.sources, clock, onFault });
  const capacities = createCapacityWatch({ clock, onFault });
  const ready = createReadyQueue(clock);
  let rounds = 0;
  /** Resolves when the last compilation or round ends. The next one waits for it, because both yield to other work. */
  let last: Promise<void> = Promise.resolve();

  return {
    setScalers: (scalers) => {
      last = last.then(() => planner.compile(scalers, windows.sources())).catch(onFault);
    },
    startRound: (due, signal, onReady) => {
      rounds += 1;
      const startMs = clock.monotonicMs();
      const round = { sources, clock, signal, number: rounds, startMs, ready, capacities, onReady, onFault };
      const plan = async (): Promise<Plan | null> => {
        try {
          for (const report of reports) report();
          return await planner.planFor(due, windows.sources());
        } catch (error) {
          onFault(error);
          // Every scaler gets a reading: if a cycle waited forever, its scaler would never be due again.
          for (const scaler of due) onReady(scaler, withoutValues(scaler, startMs), {});
          return null;
        }
      };
      const send = async (planned: Plan | null): Promise<void> => {
        if (planned === null) return;
        await sendRound(planned, round);
        learnWindows(planned, round, windows);
        readCapacities(planned, round);
      };
      last = last.then(plan).then(send).catch(onFault);
    },
    historyOf: (name) => sources.get(name)?.history() ?? null,
    loadAhead: (scaler) => {
      const { metrics, forecast } = scaler.spec;
      const metric = forecast === null ? undefined : metrics[forecast.metric];
      return metric === undefined ? null : (sources.get(metric.source)?.histories.ahead(scaler) ?? null);
    },
  };
}

function withoutValues({ spec }: Scaler, sinceMs: number): Readings {
  return { answers: spec.metrics.map(() => INTERNAL_ERROR), ages: new Map(), sinceMs };
}

function learnWindows(
  plan: Plan,
  { sources, signal, number: round }: RoundInput,
  windows: LearnedWindows,
): void {
  for (const [name, config] of plan.sources) {
    const source = sources.get(name);
    if (source === undefined || !plan.queries.some((query) => query.source.name === name)) continue;
    windows.learn(queryConfig(source, config), {
      scalers: () => plan.queriesOf.keys(),
      ask: (text) => source.queue.query(text, { seconds: LEARN_SECONDS, signal, round }),
    });
  }
}

/** Sends the queries for `capacity.auto` after the queries of the round. The round does not wait for them. */
function readCapacities(plan: Plan, { sources, signal, number: round, capacities }: RoundInput): void {
  capacities.read(plan.queriesOf.keys(), (source, text, { namespace, name }) => {
    const owners = [{ namespace, scaler: name }];
    const queue = sources.get(source)?.queue;
    return queue?.query(text, { seconds: CAPACITY_SECONDS, signal, round, owners }) ?? null;
  });
}

interface OpenSource extends Source {
  readonly history: () => HistorySource;
}

function openSource(config: SourceConfig, options: MetricSourceOptions, reports: (() => void)[]): OpenSource {
  const { clock, onQuery, createClient = createPrometheusClient } = options;
  const { onRecognized, onDuplicates, onSeries, seeksDuplicates = false } = options;
  const { onFault = () => undefined } = options;
  const { name } = config;
  const client = createClient(config, clock);
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
  const queue = createQueryQueue({
    config,
    client,
    clock,
    onQuery,
    onFault,
    onOverLimit: (namespace) => options.onOverLimit?.(name, namespace),
  });
  const openRange = options.createRangeClient ?? ((given) => createRangeClient(given, clock));
  let range: RangeClient | null = null;
  const queryRange: RangeClient['queryRange'] = (query, given) => {
    const { maxAnswerBytes = MOST_HISTORY_BYTES } = config;
    range ??= openRange({
      ...recognition.config(),
      maxConcurrentQueries: 1,
      maxAnswerBytes: Math.min(maxAnswerBytes, MOST_HISTORY_BYTES),
    });
    return range.queryRange(query, given);
  };
  const onHistoryQuery = (reason: string | null): void => options.onHistoryQuery?.(name, reason);
  return {
    queue,
    histories: createLoadHistories({
      queryRange,
      isBusy: queue.isBusy,
      clock,
      onFault,
      onQuery: onHistoryQuery,
    }),
    history: () => ({
      config: recognition.config(),
      queryRange: async (query, given) => {
        if (!(await untilIdle({ isBusy: queue.isBusy, clock }, given.signal)))
          return {
            class: 'failed',
            reason: 'canceled',
            message: 'the range query was not sent, because other queries took more than 30 s',
          };
        const answer = await queryRange(query, given);
        if (!given.signal.aborted) onHistoryQuery(answer.class === 'failed' ? answer.reason : null);
        return answer;
      },
    }),
    recognition,
    duplicates,
    ages: createSourceAges({
      servers: client.servers ?? [client],
      scrapeIntervalSeconds: config.scrapeIntervalSeconds,
      clock,
      onFault,
    }),
    sampleAges: createSampleAges(clock),
  };
}

/** Returns the answers for each scaler, in the order of its metrics, once all have arrived. Never rejects. */
export async function readAnswers(
  options: MetricSourceOptions,
  scalers: readonly Scaler[],
  signal: AbortSignal,
): Promise<ReadonlyMap<Scaler, readonly Answer[]>> {
  const source = createMetricSource(options);
  const answers = new Map<Scaler, readonly Answer[]>();
  const periods = new Set(scalers.map(({ spec }) => spec.syncPeriodSeconds));
  if (scalers.length > 0)
    await new Promise<void>((resolve) => {
      for (const period of periods)
        source.startRound(
          scalers.filter(({ spec }) => spec.syncPeriodSeconds === period),
          signal,
          (scaler, readings) => {
            answers.set(scaler, readings.answers);
            if (answers.size === scalers.length) resolve();
          },
        );
    });
  return answers;
}
