import { retryAfterSeconds, withoutTrailingSlashes } from '../../http/http-client.js';
import type { Clock } from '../../units/clock.js';
import { failed, failureAt, type FailureReason, isServerFailure } from '../../units/failure.js';
import type { Instant } from '../../units/time.js';
import { type Answer, answerLimits, withFields } from '../answers/answer.js';
import { classifyAnswer, isWholeAnswer, whyAnswerPartial } from '../answers/classify.js';
import { KeptLayouts } from '../answers/columns.js';
import { columnAnswer, readVector } from '../answers/vector.js';
import type { Flavor, SourceConfig } from '../data-source/source-config.js';
import {
  createStartTimeReader,
  createStoresReader,
  type Engine,
  engineOfBuild,
  FLAVOR_PARAMETERS,
  isVictoriaMetricsAnswer,
  type ReadStores,
} from './engine.js';
import { hostOf, type HttpReply, type QueryOptions, type Send, type SendResult } from './request.js';

/** Queries one URL of a data source and remembers whether it recently failed. No method throws. */
export interface UrlClient {
  /** The host of the URL, without credentials. */
  readonly name: string;
  readonly queryUrl: (query: string, options: QueryOptions) => Promise<Answer>;
  /**
   * `unavailable`: no complete response arrived, or its status is 5xx or 206; null: the server reports no start time.
   */
  readonly startTime: (options: QueryOptions) => Promise<Instant | null | 'unavailable'>;
  /** `unavailable`: no complete response arrived, or its status is 5xx. */
  readonly isVictoriaMetrics: (options: QueryOptions) => Promise<boolean | 'unavailable'>;
  readonly stores: ReadStores;
  readonly isDoubtful: () => boolean;
  /**
   * Whether a query should try the other URLs first, so that it does not spend half of its time on a failed URL. Every
   * 30 s after a failure, the value is false for one query, which tests whether the server has recovered.
   */
  readonly goesLast: () => boolean;
  readonly series: () => SeriesCounts;
}

/**
 * The number of series whose labels were the same as in the last answer to the same query (`known`), and of series
 * whose labels had to be parsed (`read`).
 */
export interface SeriesCounts {
  readonly known: number;
  readonly read: number;
}

/**
 * The list of stores is also read with the flavor `prometheus`, because it is the default: the config of a Thanos
 * querier may not set a flavor.
 */
const HAS_STORES: ReadonlySet<Flavor> = new Set(['thanos', 'prometheus']);

export const QUERY_PATH = '/api/v1/query';
const BUILD_INFO_PATH = '/api/v1/status/buildinfo';
const DOUBTFUL_MS = 30_000;
const MAX_RETRY_AFTER_SECONDS = 300;

export function createUrlClient(
  url: string,
  options: {
    readonly config: SourceConfig;
    /** Position of the URL in the config; null: it is the only one. */
    readonly index: number | null;
    /** Shared by all URLs of the data source. */
    readonly engine: Engine;
    readonly send: Send;
    readonly clock: Clock;
  },
): UrlClient {
  const { config, index, engine, send, clock } = options;
  const host = hostOf(url);
  const base = withoutTrailingSlashes(url);
  /** When the next query may try this URL first; null: it has not failed. */
  let nextTryMs: number | null = null;
  const silence = createSilence(clock);
  const layouts = new KeptLayouts(clock);
  const series = { known: 0, read: 0 };
  const limits = answerLimits(config);

  const queryUrl: UrlClient['queryUrl'] = async (text, { timeoutMs, signal, namespace }) => {
    const silent = silence.reasonFor(namespace);
    if (silent !== null)
      return failureAt(
        host,
        failed(silent, 'the query was not sent, because the server asked for a later retry (Retry-After)'),
      );
    const ms = Math.ceil(timeoutMs);
    const flavor = FLAVOR_PARAMETERS[engine.config().flavor];
    const parameters = { query: text, timeout: `${ms}ms`, ...flavor };
    const result = await send({ url: base + QUERY_PATH, parameters, isQuery: true, timeoutMs: ms, signal });
    if (result.class === 'failed') {
      const { reason } = result;
      if (reason !== 'busy' && isServerFailure(reason)) nextTryMs = clock.monotonicMs() + DOUBTFUL_MS;
      return failureAt(host, result);
    }
    const answer = fromServer(read(result, text), result, host);
    if (answer.class !== 'failed') {
      nextTryMs = null;
      return index === null ? answer : withFields(answer, { urlIndex: index });
    }
    const nowMs = clock.monotonicMs();
    if (isServerFailure(answer.reason)) nextTryMs = nowMs + DOUBTFUL_MS;
    if (answer.reason !== 'rate_limited' && result.status !== 503) return answer;
    const time = { now: clock.now(), most: MAX_RETRY_AFTER_SECONDS };
    const seconds = retryAfterSeconds(result.retryAfter, time);
    const reason = answer.reason === 'server_error' && seconds !== null ? 'busy' : answer.reason;
    if (seconds !== null) silence.begin(namespace, { seconds, reason });
    return { ...answer, reason };
  };

  const read = (result: HttpReply, text: string): Answer => {
    const { bytes } = result;
    const known = layouts.of(text);
    const isWhole = isWholeAnswer(result.status);
    const reading = isWhole
      ? readVector(bytes, known, { series: limits.series, items: limits.json.items })
      : null;
    // An answer in the plain form without additional members is not from VictoriaMetrics.
    const mayBeOther = reading === null || reading.rest !== null;
    if (mayBeOther && engine.config().ifVictoriaMetrics !== null && isVictoriaMetricsAnswer(bytes))
      engine.recognize();
    if (reading === null) {
      // After an error, the kept labels stay: an error says nothing about the series of the next answer.
      if (isWhole) layouts.keep(text, null);
      return classifyAnswer(result, config.maxSeries);
    }
    series[reading.layout === known ? 'known' : 'read'] += reading.layout.count;
    layouts.keep(text, reading.layout);
    return columnAnswer(reading, reading.rest === null ? null : whyAnswerPartial(reading.rest));
  };

  const get = (path: string, page: QueryOptions & { readonly accept?: string }): Promise<SendResult> =>
    send({ ...page, url: base + path });

  const isVictoriaMetrics: UrlClient['isVictoriaMetrics'] = async (options) => {
    const result = await get(BUILD_INFO_PATH, options);
    return result.class === 'failed' || result.status >= 500
      ? 'unavailable'
      : engineOfBuild(result) === 'victoriametrics';
  };

  const goesLast: UrlClient['goesLast'] = () => {
    if (nextTryMs === null) return false;
    if (nextTryMs > clock.monotonicMs()) return true;
    nextTryMs = clock.monotonicMs() + DOUBTFUL_MS;
    return false;
  };

  const startTime = createStartTimeReader({ get, engine, clock });
  const readStores = createStoresReader({ get, clock });
  const stores: ReadStores = async (options) =>
    HAS_STORES.has(engine.config().flavor) ? readStores(options) : null;
  const isDoubtful = (): boolean => nextTryMs !== null;
  return {
    name: host,
    queryUrl,
    startTime,
    stores,
    isVictoriaMetrics,
    isDoubtful,
    goesLast,
    series: () => series,
  };
}

/** The time after a response with `Retry-After` in which no request is sent. */
interface Silence {
  /** Returns why no request may be sent for a namespace now; null: requests may be sent. */
  readonly reasonFor: (namespace: string | undefined) => FailureReason | null;
  readonly begin: (
    namespace: string | undefined,
    asked: { readonly seconds: number; readonly reason: FailureReason },
  ) => void;
}

/**
 * A server may throttle the expensive queries of one namespace, or the queries of one tenant. Queries of other
 * namespaces are still sent, unless the server also throttles a second namespace or a query that several namespaces
 * share.
 */
function createSilence(clock: Clock): Silence {
  const byNamespace = new Map<string, { readonly untilMs: number; readonly reason: FailureReason }>();
  const endOld = (): void => {
    const nowMs = clock.monotonicMs();
    for (const [name, { untilMs }] of byNamespace) if (untilMs <= nowMs) byNamespace.delete(name);
  };
  return {
    reasonFor: (namespace) => {
      if (byNamespace.size === 0) return null;
      endOld();
      const ofAll = byNamespace.get(ALL);
      return (ofAll ?? byNamespace.get(namespace ?? ALL))?.reason ?? null;
    },
    begin: (namespace = ALL, { seconds, reason }) => {
      endOld();
      const until = { untilMs: clock.monotonicMs() + seconds * 1000, reason };
      byNamespace.set(namespace, until);
      if (byNamespace.size > 1) byNamespace.set(ALL, until);
    },
  };
}

/** The key in `byNamespace` for all namespaces. No namespace can have this name. */
const ALL = '';

/**
 * Removes credentials from the message, because a server may quote the request in an error, and adds the host to a
 * failure.
 */
function fromServer(answer: Answer, result: HttpReply, host: string): Answer {
  switch (answer.class) {
    case 'value':
      return answer;
    case 'partial':
      return withFields(answer, { why: result.redact(answer.why) });
    case 'failed':
      return failureAt(host, { ...answer, message: result.redact(answer.message) });
    default:
      return { ...answer, message: result.redact(answer.message) };
  }
}
