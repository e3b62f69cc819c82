import { type Clock, sleep } from '../../units/clock.js';
import type { Instant } from '../../units/time.js';
import { type Answer, type FailureReason, isServerFailure } from '../answers/answer.js';
import { createConnection } from './connection.js';
import { createEngine } from './engine.js';
import type { QueryOptions } from '../requests/request-options.js';
import type { ReadStores } from './stores.js';
import { createUrlClient, type SeriesCounts, type UrlClient } from './url-client.js';
import type { Environment } from '../sign-in/environment.js';
import type { SourceConfig } from '../data-source/source-config.js';

/** Client for one server. No method throws. */
export interface PrometheusServer {
  /** Unset: it is the only one of its data source. */
  readonly name?: string;
  readonly query: (query: string, options: QueryOptions) => Promise<Answer>;
  /**
   * Returns since when the server stores data. Null if it does not answer, does not report the time (Mimir), or stores
   * nothing (Thanos).
   */
  readonly startTime: (options: QueryOptions) => Promise<Instant | null>;
  /** Unset: the server lists no stores. */
  readonly stores?: ReadStores;
}

/** Client for one data source. No method throws. */
export interface PrometheusClient extends PrometheusServer {
  /** One client for each url, in the order of the config. Unset: the client is for a single one. */
  readonly servers?: readonly PrometheusServer[];
  /** Detects the flavor if the config does not set it. Returns false if no server answered. */
  readonly recognize?: (options: QueryOptions) => Promise<boolean>;
  readonly fittingConfig?: () => SourceConfig;
  /** Series in the answers of all urls since the start. */
  readonly series?: () => SeriesCounts;
}

/** These failures are often short, such as a closed keep-alive connection or a proxy without a backend. */
const RETRY_REASONS: ReadonlySet<FailureReason> = new Set(['connection', 'server_error']);
/** A 503 within 0.2 s would only add to an overload. */
const RETRY_AFTER_MS = 250;

type Failure = Extract<Answer, { readonly class: 'failed' }>;

/**
 * Creates a client for the urls of a data source. It tries them in order, recently failed ones last, within one
 * deadline. Each url gets an equal share of the remaining time. `env` is for authentication.
 */
export function createPrometheusClient(
  config: SourceConfig,
  clock: Clock,
  env: Environment = {},
): PrometheusClient {
  const connect = createConnection(config, clock, env);
  const engine = createEngine(config);
  const isOnly = config.urls.length === 1;
  const servers = config.urls.map((url, index) =>
    createUrlClient(url, { config, index: isOnly ? null : index, engine, connect, clock }),
  );

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
      const answer = await server.query(text, { timeoutMs: leftMs / untried, signal, namespace });
      untried -= 1;
      if (answer.class !== 'failed' || !isServerFailure(answer.reason)) return answer;
      failures.push(answer);
    }
    const [first] = order;
    const isWorthIt = mayRetry && failures.every(({ reason }) => RETRY_REASONS.has(reason));
    if (first === undefined || !isWorthIt) return summary(failures);
    await sleep(clock, RETRY_AFTER_MS, signal);
    const leftMs = deadlineMs - clock.monotonicMs();
    if (leftMs <= 0) return summary(failures);
    const again = await first.query(text, { timeoutMs: leftMs, signal, namespace });
    return again.class === 'failed' ? summary(failures) : again;
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

  // Uses the first server that answers, even without a start time, because the start time of another server
  // is irrelevant.
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
  const reason = failures.at(-1)?.reason ?? 'timeout';
  return { class: 'failed', reason, message: message === '' ? 'no time was left for the query' : message };
}
