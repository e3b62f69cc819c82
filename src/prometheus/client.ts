import { type Clock, sleep, withDeadline } from '../units/clock.js';
import { type Instant, parseInstant } from '../units/time.js';
import type { Answer, FailureReason } from './answer.js';
import { classifyAnswer } from './classify-answer.js';
import { createConnection, CredentialError } from './connection.js';
import { send, type SendResult } from './send.js';
import type { Flavor, SourceConfig } from './source-config.js';

export interface QueryOptions {
  /** Total, over all urls, at least 1. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Asks one data source. Nothing here throws. */
export interface PrometheusClient {
  /** One instant query, evaluated at the server's own present. */
  readonly query: (query: string, options: QueryOptions) => Promise<Answer>;
  /** When the server that answers began to run; null where it does not say (Thanos, Mimir) or does not answer. */
  readonly startTime: (options: QueryOptions) => Promise<Instant | null>;
}

/** What keeps wrong data out: see reliability.md, P3. Mimir's tenant is a header of the config. */
const FLAVOR_PARAMETERS: Readonly<Record<Flavor, Readonly<Record<string, string>>>> = {
  prometheus: {},
  mimir: {},
  thanos: { dedup: 'true', partial_response: 'false', max_source_resolution: '0s' },
  victoriametrics: { nocache: '1', deny_partial_response: '1' },
};

/** Failures of one server, not of the query: another url may do better. */
const NEXT_URL_REASONS: ReadonlySet<FailureReason> = new Set([
  'timeout',
  'connection',
  'unauthorized',
  'rate_limited',
  'server_error',
  'bad_answer',
]);

/** Failures that often are over at once: a closed keep-alive connection, a proxy without a backend. */
const RETRY_REASONS: ReadonlySet<FailureReason> = new Set(['connection', 'server_error']);
const RETRY_AFTER_MS = 100;

/** A url that failed is tried after the others for this long. */
const AVOID_MS = 30_000;
const MAX_RETRY_AFTER_SECONDS = 300;
const START_TIME_PATH = '/api/v1/status/runtimeinfo';

/** One url and what earlier requests taught about it. */
interface Server {
  readonly url: string;
  readonly host: string;
  isPostRefused: boolean;
  avoidUntilMs: number;
  silentUntilMs: number;
}

interface Call {
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** A client for the urls of a data source: the next one is tried when one fails, all within one deadline. */
export function createPrometheusClient(config: SourceConfig, clock: Clock): PrometheusClient {
  const connect = createConnection(config, clock);
  const servers = config.urls.map(createServer);
  let secrets: readonly string[] = [];

  /** One request, and one more where a 401 may be a token that was replaced, or a POST is not allowed. */
  const request = async (server: Server, call: Call): Promise<SendResult> => {
    const once = async (isForced: boolean): Promise<SendResult> => {
      const method = call.path === START_TIME_PATH || server.isPostRefused ? 'GET' : 'POST';
      const connection = await connect(isForced);
      secrets = connection.secrets;
      const { parameters, signal } = call;
      return send({ method, url: server.url + call.path, parameters, connection, signal });
    };
    try {
      const first = await once(false);
      if (first.kind === 'failed') return first;
      if (first.status === 401 && config.bearerTokenFile !== null) return await once(true);
      if ((first.status === 405 || first.status === 501) && !server.isPostRefused) {
        server.isPostRefused = true;
        return await once(false);
      }
      return first;
    } catch (error) {
      if (error instanceof CredentialError) {
        return { kind: 'failed', reason: 'unauthorized', message: error.message };
      }
      throw error;
    }
  };

  const askServer = async (server: Server, query: string, options: QueryOptions): Promise<Answer> => {
    const parent = options.signal;
    const timeoutMs = Math.ceil(options.timeoutMs);
    const parameters = { query, timeout: `${timeoutMs}ms`, ...FLAVOR_PARAMETERS[config.flavor] };
    const result = await withDeadline(clock, { ms: timeoutMs, parent }, (signal) =>
      request(server, { path: '/api/v1/query', parameters, signal }),
    );
    const nowMs = clock.monotonicMs();
    const answer: Answer =
      result.kind === 'answered'
        ? redact(classifyAnswer(result), secrets)
        : { class: 'failed', reason: result.reason, message: result.message };
    if (answer.class !== 'failed') {
      server.avoidUntilMs = -Infinity;
      return answer;
    }
    if (NEXT_URL_REASONS.has(answer.reason)) server.avoidUntilMs = nowMs + AVOID_MS;
    if (answer.reason === 'rate_limited' && result.kind === 'answered') {
      const seconds = Math.min(result.retryAfterSeconds ?? 0, MAX_RETRY_AFTER_SECONDS);
      server.silentUntilMs = nowMs + seconds * 1000;
    }
    return { ...answer, message: `${server.host}: ${answer.message}` };
  };

  const query = async (text: string, { timeoutMs, signal }: QueryOptions): Promise<Answer> => {
    const deadlineMs = clock.monotonicMs() + timeoutMs;
    const order = inOrder(servers, clock.monotonicMs());
    const failures: (Answer & { readonly class: 'failed' })[] = [];
    for (const [index, server] of order.entries()) {
      const remainingMs = deadlineMs - clock.monotonicMs();
      if (remainingMs <= 0) break;
      const answer =
        server.silentUntilMs > clock.monotonicMs()
          ? rateLimited(server)
          : await askServer(server, text, { timeoutMs: remainingMs / (order.length - index), signal });
      if (answer.class !== 'failed' || !NEXT_URL_REASONS.has(answer.reason)) return answer;
      failures.push(answer);
    }
    const again = order[0];
    if (
      again !== undefined &&
      failures.length > 0 &&
      failures.every(({ reason }) => RETRY_REASONS.has(reason))
    ) {
      await sleep(clock, RETRY_AFTER_MS, signal);
      const remainingMs = deadlineMs - clock.monotonicMs();
      if (remainingMs > 0) {
        const answer = await askServer(again, text, { timeoutMs: remainingMs, signal });
        if (answer.class !== 'failed') return answer;
      }
    }
    return summary(failures);
  };

  const startTime = async ({ timeoutMs, signal: parent }: QueryOptions): Promise<Instant | null> => {
    const deadlineMs = clock.monotonicMs() + timeoutMs;
    const order = inOrder(servers, clock.monotonicMs());
    for (const [index, server] of order.entries()) {
      const ms = (deadlineMs - clock.monotonicMs()) / (order.length - index);
      if (ms <= 0) return null;
      const result = await withDeadline(clock, { ms, parent }, (signal) =>
        request(server, { path: START_TIME_PATH, parameters: {}, signal }),
      );
      // A server that answers without saying when it began is one that does not say: no other one speaks for it.
      if (result.kind === 'answered' && result.status < 500) return readStartTime(result.body);
    }
    return null;
  };

  return { query, startTime };
}

function createServer(url: string): Server {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  return {
    url: url.replace(/\/+$/, ''),
    host: parsed?.host ?? 'the data source',
    isPostRefused: false,
    avoidUntilMs: -Infinity,
    silentUntilMs: -Infinity,
  };
}

/** As configured, but those that failed a short while ago at the end. */
function inOrder(servers: readonly Server[], nowMs: number): readonly Server[] {
  const good = servers.filter(({ avoidUntilMs }) => avoidUntilMs <= nowMs);
  return [...good, ...servers.filter(({ avoidUntilMs }) => avoidUntilMs > nowMs)];
}

function rateLimited(server: Server): Answer & { readonly class: 'failed' } {
  const message = `${server.host}: not asked, its Retry-After has not passed`;
  return { class: 'failed', reason: 'rate_limited', message };
}

function summary(failures: readonly (Answer & { readonly class: 'failed' })[]): Answer {
  const message = failures.map((failure) => failure.message).join('; ');
  const reason = failures.at(-1)?.reason ?? 'timeout';
  return { class: 'failed', reason, message: message === '' ? 'no time was left to ask' : message };
}

/** A server may repeat what it was sent in its error text. */
function redact(answer: Answer, secrets: readonly string[]): Answer {
  const clean = (text: string): string =>
    secrets.reduce((left, secret) => left.replaceAll(secret, '[secret]'), text);
  if (answer.class === 'value') return answer;
  return answer.class === 'partial'
    ? { ...answer, why: clean(answer.why) }
    : { ...answer, message: clean(answer.message) };
}

function readStartTime(body: string): Instant | null {
  try {
    const json = JSON.parse(body) as { readonly data?: { readonly startTime?: unknown } | null } | null;
    const text = json?.data?.startTime;
    return typeof text === 'string' ? parseInstant(text) : null;
  } catch {
    return null;
  }
}
