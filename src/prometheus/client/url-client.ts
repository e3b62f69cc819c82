import type { Clock } from '../../units/clock.js';
import type { Instant } from '../../units/time.js';
import { type Answer, answerLimits, type FailureReason, isServerFailure } from '../answers/answer.js';
import { isWholeAnswer, whyAnswerPartial } from '../answers/classify.js';
import { columnAnswer, readVector } from '../answers/vector.js';
import { type Engine, engineOfBuild, isVictoriaMetricsAnswer } from './engine.js';
import { classifyByEngine } from './engine-errors.js';
import type { GetPage, QueryOptions } from '../requests/request-options.js';
import { whyTooLarge } from '../requests/read-body.js';
import type { Connection, SendResult } from '../requests/send.js';
import { createStartTimeReader } from './start-time.js';
import { createStoresReader, type ReadStores } from './stores.js';
import type { Flavor, SourceConfig } from '../data-source/source-config.js';
import { type QueryMemo, QueryMemos, SMALL_BYTES } from './query-memos.js';
import { createRequest, QUERY_PATH } from './url-request.js';
import { retryAfterSeconds } from '../../http/retry-after.js';
import { withoutTrailingSlashes } from '../../units/base-url.js';

/** Queries one url of a data source and remembers its state. No method throws. */
export interface UrlClient {
  /** Its host, without credentials. */
  readonly name: string;
  readonly query: (query: string, options: QueryOptions) => Promise<Answer>;
  /** `unavailable`: the server did not answer; null: its answer has no start time. */
  readonly startTime: (options: QueryOptions) => Promise<Instant | null | 'unavailable'>;
  /** `unavailable`: the server did not answer. */
  readonly isVictoriaMetrics: (options: QueryOptions) => Promise<boolean | 'unavailable'>;
  readonly stores: ReadStores;
  readonly isDoubtful: () => boolean;
  /**
   * Whether a query should try other urls first. After a failure, one query every 30 s tests whether the server has
   * recovered; for that query this is false. Other queries do not spend half of their time on a failed url.
   */
  readonly goesLast: () => boolean;
  readonly series: () => SeriesCounts;
}

/** Series in answers: the labels were those of the last answer to the same query, or had to be read. */
export interface SeriesCounts {
  readonly known: number;
  readonly read: number;
}

/** Parameters that prevent wrong data: see reliability.md, P3. The tenant of Mimir is a header of the config. */
export const FLAVOR_PARAMETERS: Readonly<Record<Flavor, Readonly<Record<string, string>>>> = {
  prometheus: {},
  mimir: {},
  thanos: { dedup: 'true', partial_response: 'false', max_source_resolution: '0s' },
  victoriametrics: { nocache: '1', deny_partial_response: '1' },
};

const FLAVOR_FORMS = {
  prometheus: formOf(FLAVOR_PARAMETERS.prometheus),
  mimir: formOf(FLAVOR_PARAMETERS.mimir),
  thanos: formOf(FLAVOR_PARAMETERS.thanos),
  victoriametrics: formOf(FLAVOR_PARAMETERS.victoriametrics),
} satisfies Record<Flavor, string>;

/** Returns parameters as the end of a form. */
function formOf(parameters: Readonly<Record<string, string>>): string {
  const form = new URLSearchParams(parameters).toString();
  return form === '' ? '' : `&${form}`;
}

type Answered = Extract<SendResult, { readonly kind: 'answered' }>;

/** A querier of Thanos may be configured without its flavor. */
const HAS_STORES: ReadonlySet<Flavor> = new Set(['thanos', 'prometheus']);

const BUILD_INFO_PATH = '/api/v1/status/buildinfo';
const DOUBTFUL_MS = 30_000;
const MAX_RETRY_AFTER_SECONDS = 300;

export function createUrlClient(
  url: string,
  options: {
    readonly config: SourceConfig;
    /** Its position in the config; null: it is the only url. */
    readonly index: number | null;
    /** Shared by all urls of the data source. */
    readonly engine: Engine;
    readonly connect: (isForced?: boolean) => Promise<Connection>;
    readonly clock: Clock;
  },
): UrlClient {
  const { config, index, engine, connect, clock } = options;
  const host = URL.canParse(url) ? new URL(url).host : 'the data source';
  const request = createRequest({
    url: withoutTrailingSlashes(url),
    connect,
    clock,
    hasToken: config.bearerTokenFile !== null,
  });
  /** When the next query may try this url first; null: it has not failed. */
  let nextTryMs: number | null = null;
  const silence = createSilence(clock);
  const memos = new QueryMemos(clock);
  const series = { known: 0, read: 0 };
  const limits = answerLimits(config);

  const query: UrlClient['query'] = async (text, { timeoutMs, signal: parent, namespace }) => {
    const silent = silence.reasonFor(namespace);
    if (silent !== null) return fail(host, silent, 'not sent: the Retry-After of the server has not elapsed');
    const ms = Math.ceil(timeoutMs);
    const memo = memos.of(text);
    const parameters = `${memo.encoded}&timeout=${ms}ms${FLAVOR_FORMS[engine.config().flavor]}`;
    const { result, secrets } = await request({
      path: QUERY_PATH,
      parameters,
      ms,
      parent,
      mayCompress: !memo.isSmall,
      checksBounds: true,
    });
    if (result.kind === 'failed' && result.reason !== 'busy' && isServerFailure(result.reason)) {
      nextTryMs = clock.monotonicMs() + DOUBTFUL_MS;
    }
    if (result.kind === 'failed') return fail(host, result.reason, result.message);
    const answer = read(result, memo, secrets);
    if (answer.class !== 'failed') {
      nextTryMs = null;
      // A copy by spreading would create an object for each series.
      return index === null ? answer : Object.assign(answer, { urlIndex: index });
    }
    const nowMs = clock.monotonicMs();
    if (isServerFailure(answer.reason)) nextTryMs = nowMs + DOUBTFUL_MS;
    if (answer.reason !== 'rate_limited' && result.status !== 503)
      return fail(host, answer.reason, answer.message);
    const time = { now: clock.now(), most: MAX_RETRY_AFTER_SECONDS };
    const seconds = retryAfterSeconds(result.retryAfter, time);
    const reason = answer.reason === 'server_error' && seconds !== null ? 'busy' : answer.reason;
    if (seconds !== null) silence.begin(namespace, { seconds, reason });
    return fail(host, reason, answer.message);
  };

  const read = (result: Answered, memo: QueryMemo, secrets: readonly string[]): Answer => {
    const { bytes = Buffer.from(result.body) } = result;
    const isWhole = isWholeAnswer(result.status);
    const reading = isWhole
      ? readVector(bytes, memo.layout, { series: limits.series, items: limits.json.items })
      : null;
    // Only VictoriaMetrics sends further members with an answer that lacks nothing.
    const mayBeOther = reading === null || reading.rest !== null;
    if (mayBeOther && engine.config().ifVictoriaMetrics !== null && isVictoriaMetricsAnswer(bytes))
      engine.recognize();
    if (reading === null) {
      // An error says nothing about the series of the next answer.
      if (isWhole) memo.layout = null;
      const excess = whyTooLarge(bytes, limits);
      if (excess !== null) return { class: 'failed', reason: 'too_large', message: excess };
    } else {
      series[reading.layout === memo.layout ? 'known' : 'read'] += reading.layout.count;
      memo.layout = reading.layout;
    }
    const answer = redact(
      reading === null
        ? classifyByEngine(result, config.maxSeries)
        : columnAnswer(reading, reading.rest === null ? null : whyAnswerPartial(reading.rest)),
      secrets,
    );
    if (answer.class !== 'failed') memo.isSmall = bytes.length <= SMALL_BYTES;
    return answer;
  };

  const get: GetPage = async (path, { timeoutMs: ms, signal: parent, accept }) => {
    const { result } = await request({ path, parameters: {}, ms, parent, accept });
    return result;
  };

  const isVictoriaMetrics: UrlClient['isVictoriaMetrics'] = async (options) => {
    const result = await get(BUILD_INFO_PATH, options);
    return result.kind === 'failed' || result.status >= 500
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
    query,
    startTime,
    stores,
    isVictoriaMetrics,
    isDoubtful,
    goesLast,
    series: () => series,
  };
}

/** After a `Retry-After`. */
interface Silence {
  /** Returns the reason of the failure without a request; null: a request may be sent. */
  readonly reasonFor: (namespace: string | undefined) => FailureReason | null;
  readonly begin: (
    namespace: string | undefined,
    asked: { readonly seconds: number; readonly reason: FailureReason },
  ) => void;
}

/**
 * A server may limit the queries of one namespace, such as those for a tenant or those that it considers expensive. The
 * others are still sent, until it asks for silence for a second namespace, or for a query without a single owner.
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

/** No namespace has this name. */
const ALL = '';

function fail(host: string, reason: FailureReason, message: string): Answer {
  return { class: 'failed', reason, message: `${host}: ${message}` };
}

/** A server may quote the request in its error message. */
function redact(answer: Answer, secrets: readonly string[]): Answer {
  const clean = (text: string): string =>
    secrets.reduce((left, secret) => left.replaceAll(secret, '[secret]'), text);
  if (answer.class === 'value') return answer;
  return answer.class === 'partial'
    ? { ...answer, why: clean(answer.why) }
    : { ...answer, message: clean(answer.message) };
}
