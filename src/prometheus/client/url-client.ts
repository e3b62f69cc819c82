import type { Clock } from '../../units/clock.js';
import { withLightDeadline } from '../../units/light-deadline.js';
import type { Instant } from '../../units/time.js';
import type { Answer, FailureReason } from '../answers/answer.js';
import { isServerFailure } from './breaker.js';
import { type Engine, engineOfBuild, isVictoriaMetricsAnswer } from './engine.js';
import { classifyByEngine } from './engine-errors.js';
import type { GetPage, QueryOptions } from '../requests/request-options.js';
import type { Connection } from '../requests/send.js';
import { createStartTimeReader } from './start-time.js';
import type { Flavor, SourceConfig } from '../data-source/source-config.js';
import { createSmallAnswers } from './small-answers.js';
import { createRequest, QUERY_PATH } from './url-request.js';
import { withoutTrailingSlashes } from '../../units/base-url.js';

/** Queries one url of a data source and remembers its state. No method throws. */
export interface UrlClient {
  readonly query: (query: string, options: QueryOptions) => Promise<Answer>;
  /** `unavailable`: the server did not answer; null: its answer has no start time. */
  readonly startTime: (options: QueryOptions) => Promise<Instant | null | 'unavailable'>;
  /** `unavailable`: the server did not answer. */
  readonly isVictoriaMetrics: (options: QueryOptions) => Promise<boolean | 'unavailable'>;
  readonly isDoubtful: () => boolean;
  /**
   * Whether a query should try other urls first. After a failure, one query every 30 s tests whether the server has
   * recovered; for that query this is false. Other queries do not spend half of their time on a failed url.
   */
  readonly goesLast: () => boolean;
}

/** Parameters that prevent wrong data: see reliability.md, P3. The tenant of Mimir is a header of the config. */
export const FLAVOR_PARAMETERS: Readonly<Record<Flavor, Readonly<Record<string, string>>>> = {
  prometheus: {},
  mimir: {},
  thanos: { dedup: 'true', partial_response: 'false', max_source_resolution: '0s' },
  victoriametrics: { nocache: '1', deny_partial_response: '1' },
};

const BUILD_INFO_PATH = '/api/v1/status/buildinfo';
const DOUBTFUL_MS = 30_000;
const MAX_RETRY_AFTER_SECONDS = 300;

export function createUrlClient(
  url: string,
  options: {
    readonly config: SourceConfig;
    /** Shared by all urls of the data source. */
    readonly engine: Engine;
    readonly connect: (isForced?: boolean) => Promise<Connection>;
    readonly clock: Clock;
  },
): UrlClient {
  const { config, engine, connect, clock } = options;
  const host = URL.canParse(url) ? new URL(url).host : 'the data source';
  const request = createRequest(withoutTrailingSlashes(url), connect, config.bearerTokenFile !== null);
  /** When the next query may try this url first; null: it has not failed. */
  let nextTryMs: number | null = null;
  let silentUntilMs = -Infinity;
  const smallAnswers = createSmallAnswers();

  const query: UrlClient['query'] = async (text, { timeoutMs, signal: parent }) => {
    if (silentUntilMs > clock.monotonicMs()) {
      return fail(host, 'rate_limited', 'not sent: the Retry-After of the server has not elapsed');
    }
    const ms = Math.ceil(timeoutMs);
    const parameters = { query: text, timeout: `${ms}ms`, ...FLAVOR_PARAMETERS[engine.config().flavor] };
    const { result, secrets } = await withLightDeadline(clock, { ms, parent }, (signal) =>
      request({ path: QUERY_PATH, parameters, signal, mayCompress: !smallAnswers.has(text) }),
    );
    if (result.kind === 'failed' && isServerFailure(result.reason)) {
      nextTryMs = clock.monotonicMs() + DOUBTFUL_MS;
    }
    if (result.kind === 'failed') return fail(host, result.reason, result.message);
    const answer = redact(classifyByEngine(result, config.maxSeries), secrets);
    if (engine.config().ifVictoriaMetrics !== null && isVictoriaMetricsAnswer(result.body))
      engine.recognize();
    if (answer.class !== 'failed') {
      smallAnswers.note(text, result.body.length);
      nextTryMs = null;
      return answer;
    }
    const nowMs = clock.monotonicMs();
    if (isServerFailure(answer.reason)) nextTryMs = nowMs + DOUBTFUL_MS;
    if (answer.reason === 'rate_limited') {
      silentUntilMs = nowMs + Math.min(result.retryAfterSeconds ?? 0, MAX_RETRY_AFTER_SECONDS) * 1000;
    }
    return fail(host, answer.reason, answer.message);
  };

  const get: GetPage = async (path, { timeoutMs, signal: parent, accept }) => {
    const { result } = await withLightDeadline(clock, { ms: timeoutMs, parent }, (signal) =>
      request({ path, parameters: {}, signal, ...(accept === undefined ? {} : { accept }) }),
    );
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
  return { query, startTime, isVictoriaMetrics, isDoubtful: () => nextTryMs !== null, goesLast };
}

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
