import { type Clock, sleep } from '../../units/clock.js';
import { failed, type Failure, type FailureReason, isServerFailure } from '../../units/failure.js';
import type { Instant } from '../../units/time.js';
import type { Answer } from '../answers/answer.js';
import type { SourceConfig } from '../data-source/source-config.js';
import type { Environment } from '../sign-in/sign-in.js';
import { createEngine, type ReadStores } from './engine.js';
import { createSend, type QueryOptions } from './request.js';
import { createUrlClient, type SeriesCounts, type UrlClient } from './url-client.js';

/** Client for one server. No method throws. */
export interface PrometheusServer {
  /** The host of the URL; unset: the data source has only this server. */
  readonly name?: string;
  readonly query: (query: string, options: QueryOptions) => Promise<Answer>;
  /**
   * Returns since when the server stores data. Null: the server did not answer, does not report the time (Mimir), or
   * stores nothing (Thanos).
   */
  readonly startTime: (options: QueryOptions) => Promise<Instant | null>;
  /** Reads the list of stores; unset: the server has no such list. */
  readonly stores?: ReadStores;
}

/** Client for one data source. No method throws. */
export interface PrometheusClient extends PrometheusServer {
  /** One client for each URL, in the order of the config. */
  readonly servers: readonly PrometheusServer[];
  /** Detects the flavor if the config does not set it. Returns false if no server answered. */
  readonly recognize: (options: QueryOptions) => Promise<boolean>;
  /** Returns the config, corrected for the recognized server. */
  readonly fittingConfig: () => SourceConfig;
  /** The number of series in the answers of all URLs since the process started. */
  readonly series: () => SeriesCounts;
}

/** Failures that often pass quickly, such as a closed keep-alive connection or a proxy without a backend. */
const RETRY_REASONS: ReadonlySet<FailureReason> = new Set(['connection', 'server_error']);
/** The pause before a retry. An overloaded server answers 503, and an immediate retry would add to its load. */
const RETRY_PAUSE_MS = 250;

/**
 * Creates a client that tries the URLs of a data source in order, but URLs that failed recently last. All attempts
 * share one deadline: each URL gets an equal share of the time that is left. `env` is for authentication.
 */
export function createPrometheusClient(
  config: SourceConfig,
  clock: Clock,
  env: Environment = {},
): PrometheusClient {
  const send = createSend(config, clock, env);
  const engine = createEngine(config);
  const isOnly = config.urls.length === 1;
  const servers = config.urls.map((url, index) =>
    createUrlClient(url, { config, index: isOnly ? null : index, engine, send, clock }),
  );

  /**
   * Queries the servers in this order until one answers. If all of them fail for reasons that often pass quickly, the
   * first one is queried again. A single HTTP 500 followed by an answer is therefore neither reported nor counted.
   */
  const queryInOrder = async (
    order: readonly UrlClient[],
    text: string,
    { timeoutMs, signal, mayRetry = true, namespace }: QueryOptions,
  ): Promise<Answer> => {
    const deadlineMs = clock.monotonicMs() + timeoutMs;
    const failures: Failure[] = [];
    let untried = order.length;
    for (const server of order) {
      const leftMs = deadlineMs - clock.monotonicMs();
      if (leftMs <= 0) break;
      const answer = await server.queryUrl(text, { timeoutMs: leftMs / untried, signal, namespace });
      untried -= 1;
      if (answer.class !== 'failed' || !isServerFailure(answer.reason)) return answer;
      failures.push(answer);
    }
    const [first] = order;
    const isWorthIt = mayRetry && failures.every(({ reason }) => RETRY_REASONS.has(reason));
    if (first === undefined || !isWorthIt) return summary(failures);
    await sleep(clock, RETRY_PAUSE_MS, signal);
    const leftMs = deadlineMs - clock.monotonicMs();
    if (leftMs <= 0) return summary(failures);
    const again = await first.queryUrl(text, { timeoutMs: leftMs, signal, namespace });
    return again.class === 'failed' && isServerFailure(again.reason) ? summary(failures) : again;
  };

  const query: PrometheusClient['query'] = (text, options) =>
    queryInOrder(inOrder(servers, goesLast), text, options);

  const firstAnswer = async <T>(
    { timeoutMs, signal }: QueryOptions,
    ask: (server: UrlClient, options: QueryOptions) => Promise<T | 'unavailable'>,
  ): Promise<T | 'unavailable'> => {
    const deadlineMs = clock.monotonicMs() + timeoutMs;
    const order = inOrder(servers, isDoubtful);
    for (const [index, server] of order.entries()) {
      const leftMs = deadlineMs - clock.monotonicMs();
      if (leftMs <= 0) return 'unavailable';
      const answer = await ask(server, { timeoutMs: leftMs / (order.length - index), signal });
      if (answer !== 'unavailable') return answer;
    }
    return 'unavailable';
  };

  // The first server that answers decides, even if it reports no start time: the start time of another server would say
  // nothing about the data of this one.
  const startTime: PrometheusClient['startTime'] = async (options) => {
    return knownOrNull(await firstAnswer(options, (server, mine) => server.startTime(mine)));
  };

  const recognize: PrometheusClient['recognize'] = async (options) => {
    if (config.ifVictoriaMetrics === null) return true;
    const said = await firstAnswer(options, (server, mine) => server.isVictoriaMetrics(mine));
    if (said === true) engine.recognize();
    return said !== 'unavailable';
  };

  const series = (): SeriesCounts =>
    servers.reduce(
      ({ known, read }, server) => ({
        known: known + server.series().known,
        read: read + server.series().read,
      }),
      { known: 0, read: 0 },
    );

  const single = (server: UrlClient): PrometheusServer => ({
    ...(isOnly ? {} : { name: server.name }),
    query: (text, options) => queryInOrder([server], text, options),
    startTime: async (options) => knownOrNull(await server.startTime(options)),
    stores: server.stores,
  });

  return { query, startTime, recognize, fittingConfig: engine.config, series, servers: servers.map(single) };
}

function knownOrNull<T>(answer: T | 'unavailable'): T | null {
  return answer === 'unavailable' ? null : answer;
}

const goesLast = (server: UrlClient): boolean => server.goesLast();
const isDoubtful = (server: UrlClient): boolean => server.isDoubtful();

function inOrder(
  servers: readonly UrlClient[],
  isLast: (server: UrlClient) => boolean,
): readonly UrlClient[] {
  if (servers.length === 1) return servers;
  const last = new Set(servers.filter(isLast));
  return [...servers.filter((server) => !last.has(server)), ...last];
}

function summary(failures: readonly Failure[]): Answer {
  const message = failures.map((failure) => failure.message).join('; ');
  const last = failures.at(-1);
  return last === undefined
    ? failed('timeout', 'the timeout had passed before the query was sent')
    : { ...last, message };
}
