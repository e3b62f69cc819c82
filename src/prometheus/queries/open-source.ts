import type { Clock } from '../../units/clock.js';
import { failed, type QueryReport } from '../../units/failure.js';
import type { RangeAnswer } from '../answers/classify.js';
import { createPrometheusClient, type PrometheusClient } from '../client/client.js';
import { createRangeClient, type RangeClient, type RangeQuery, untilIdle } from '../client/range-client.js';
import type { SeriesCounts } from '../client/url-client.js';
import type { SourceConfig } from '../data-source/source-config.js';
import { createSourceAges, type SourceAges } from '../source/age.js';
import { createQueryQueue, type QueryQueue } from '../source/queue.js';
import { createDuplicateWatch, type DuplicateWatch } from './duplicates.js';
import { createLoadHistories, type LoadHistories } from './load-histories.js';
import { createSampleAges, type SampleAges } from './sample-ages.js';

export interface SourceOptions {
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
  /** Default: a client over HTTP. */
  readonly createClient?: (config: SourceConfig) => PrometheusClient;
  /** Creates the client that reads the loads of earlier days, once a document has a forecast. */
  readonly createRangeClient?: ((config: SourceConfig) => RangeClient) | undefined;
  /** Called after each query for the load of an earlier day. `reason`: why the query failed; null: it was answered. */
  readonly onHistoryQuery?: (source: string, reason: string | null) => void;
}

/** The parts of a data source that are kept from round to round. */
export interface OpenSource {
  readonly queue: QueryQueue;
  /**
   * Probes the server until it answers. Called in every round. Resolves when the queries of the round may be sent.
   * Null: they may be sent now, because only the first round waits.
   */
  readonly recognize: (signal: AbortSignal) => Promise<void> | null;
  readonly ages: SourceAges;
  readonly sampleAges: SampleAges;
  readonly histories: LoadHistories;
  readonly duplicates: DuplicateWatch | null;
  /**
   * Returns the config with which a query is sent. Flavor and resource queries fit the recognized server, and the
   * queries count no duplicates. The window is the window in `planned`, the config in the plan of the round.
   */
  readonly configFor: (planned: SourceConfig) => SourceConfig;
  readonly history: () => HistorySource;
  /** Calls `onDuplicates` and `onSeries`. */
  readonly reportCounts: () => void;
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

/**
 * Limits an answer to a range query. The load of a day takes 6 kB, and a part of a history takes 100 kB for each
 * series.
 */
const MOST_HISTORY_BYTES = 1024 * 1024;

const NOT_IDLE = failed(
  'canceled',
  'the range query was not sent, because other queries took more than 30 s',
);

export function openSource(config: SourceConfig, options: SourceOptions): OpenSource {
  const { clock, onQuery, onRecognized = ignore, onFault = ignore } = options;
  const { name } = config;
  const client = options.createClient?.(config) ?? createPrometheusClient(config, clock);
  const { recognize, recognized } = createRecognition({ config, client, onRecognized, onFault });
  const duplicates =
    options.seeksDuplicates === true ? createDuplicateWatch({ config: recognized, clock, onFault }) : null;
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
      ...recognized(),
      maxConcurrentQueries: 1,
      maxAnswerBytes: Math.min(maxAnswerBytes, MOST_HISTORY_BYTES),
    });
    return range.queryRange(query, given);
  };
  const onHistoryQuery = (reason: string | null): void => options.onHistoryQuery?.(name, reason);
  const { isBusy } = queue;
  let counted: SeriesCounts = { known: 0, read: 0 };
  return {
    queue,
    recognize,
    duplicates,
    ages: createSourceAges({
      servers: client.servers,
      scrapeIntervalSeconds: config.scrapeIntervalSeconds,
      clock,
      onFault,
    }),
    sampleAges: createSampleAges(clock),
    histories: createLoadHistories({ queryRange, isBusy, clock, onFault, onQuery: onHistoryQuery }),
    configFor: ({ resourceWindowSeconds, learnedIntervalSeconds }) => {
      const current = recognized();
      const adapted = duplicates?.adaptConfig(current) ?? current;
      return learnedIntervalSeconds === undefined
        ? adapted
        : { ...adapted, resourceWindowSeconds, learnedIntervalSeconds };
    },
    history: () => ({
      config: recognized(),
      queryRange: async (query, given) => {
        if (!(await untilIdle({ isBusy, clock }, given.signal))) return NOT_IDLE;
        const answer = await queryRange(query, given);
        if (!given.signal.aborted) onHistoryQuery(answer.class === 'failed' ? answer.reason : null);
        return answer;
      },
    }),
    reportCounts: () => {
      if (duplicates !== null) options.onDuplicates?.(name, duplicates.highestCount());
      const series = { ...client.series() };
      options.onSeries?.(name, { known: series.known - counted.known, read: series.read - counted.read });
      counted = series;
    },
  };
}

const RECOGNIZE_MS = 2000;

function createRecognition(parts: {
  readonly config: SourceConfig;
  readonly client: PrometheusClient;
  /** Called once if the server is not what the config assumes. */
  readonly onRecognized: (config: SourceConfig) => void;
  /** Called with an internal error. */
  readonly onFault: (error: unknown) => void;
}): Pick<OpenSource, 'recognize'> & {
  /** Returns the config, corrected for the recognized server. */
  readonly recognized: () => SourceConfig;
} {
  const { config, client, onRecognized, onFault } = parts;
  let isSettled = config.ifVictoriaMetrics === null;
  let isFirst = true;
  let isReported = false;

  const recognized = (): SourceConfig => {
    const found = client.fittingConfig();
    if (found !== config && !isReported) {
      isReported = true;
      onRecognized(found);
    }
    return found;
  };

  return {
    recognized,
    recognize: (signal) => {
      if (isSettled) return null;
      const asking = client
        .recognize({ timeoutMs: RECOGNIZE_MS, signal })
        .then((isAnswered) => {
          isSettled ||= isAnswered;
          recognized();
        })
        .catch(onFault);
      if (!isFirst) return null;
      isFirst = false;
      return asking;
    },
  };
}

const ignore = (): void => undefined;
