import { asObject } from '../../scaler/plain-json.js';
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { sendWithRenewal } from '../../http/credentials.js';
import { type HttpRequest, sendHttp } from '../../http/http-client.js';
import { type BodyLimits, readBody } from '../../http/read-body.js';
import { onAbort } from '../../units/abort.js';
import { sleep, withDeadline, type Clock } from '../../units/clock.js';
import { type JsonBounds, JsonBoundsError, parseJsonWithin } from '../../units/json-bounds.js';
import type { Connection } from '../access/connection.js';
import { errorFacts, type JsonObject } from '../api/json.js';
import { KubernetesError } from '../api/types.js';
import { createAgentSource, createLaneBudgets, type AgentSource, type Lane } from './lanes.js';
import { pruneJson, type JsonFields } from './prune-json.js';
import { abortError, connectionError, refusalError } from './request-error.js';
import { rateLimitMs } from './retry.js';

/** The HTTP method of each verb. */
export const METHODS = {
  get: 'GET',
  list: 'GET',
  watch: 'GET',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
} as const;

export interface KubernetesRequest {
  readonly lane: Lane;
  /** The path, with encoded segments: `/apis/apps/v1/namespaces/shop/deployments/web/scale`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** The body, which is sent as JSON. A PATCH is a merge-patch. */
  readonly body?: JsonObject;
  /**
   * Whether the write may be sent twice, for example because it has a resourceVersion. If so, it is retried after a
   * lost connection, like a GET.
   */
  readonly isRepeatable?: boolean;
  /** Which members of the response are read. Default: all. */
  readonly fields?: JsonFields;
  /** Called with the body of a 2xx response, before it is parsed. */
  readonly onBody?: ((body: Buffer) => void) | undefined;
  /** What is requested, for messages: `reading scale of deployment shop/web`. */
  readonly doing: string;
  /** Verb and resource as in RBAC rules, for the metrics of requests: `patch`, `deployments/scale`. */
  readonly verb: keyof typeof METHODS;
  readonly resource: string;
  /** Limits the time from the call to the last byte of the response, including retries. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The result of a request, for the metrics. `code` is the HTTP status or, if there was no response, the kind of
 * failure.
 */
export interface RequestReport {
  readonly verb: string;
  readonly resource: string;
  readonly code: string;
  /** Why there was no response; contains no secrets. */
  readonly message?: string;
  readonly seconds: number;
}

export interface WatchStream {
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly close: () => void;
}

/** Sends requests to one API server. Throws `KubernetesError`, whose messages contain no secrets. */
export interface Transport {
  /**
   * Sends a request and returns the object in the response. Retries any request once after a 401 if the token has
   * changed, and a GET or a repeatable write once after a lost connection. Retries a GET up to twice after a 429, or
   * after a 5xx with `Retry-After`, if the wait ends before the deadline.
   */
  readonly request: (request: KubernetesRequest) => Promise<JsonObject>;
  /**
   * Opens a watch. `deadlineMs` limits only the time until the response headers. After that, only `signal` and `close`
   * end the connection.
   */
  readonly openWatch: (request: KubernetesRequest) => Promise<WatchStream>;
  readonly close: () => void;
}

interface TransportOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly onRequest?: ((report: RequestReport) => void) | undefined;
  readonly onServerDate?: ((date: string) => void) | undefined;
  readonly onServerNames?: ((names: readonly string[]) => void) | undefined;
  /** Headers for each request to a server behind a proxy. Errors do not contain them. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The User-Agent header, such as `promscaler/VERSION`. */
  readonly userAgent?: string | undefined;
}

const MAX_ATTEMPTS = 3;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** Lanes with a limit other than `MAX_ANSWER_BYTES`. A list above its limit is read in pages. */
const LANE_ANSWER_BYTES: Partial<Readonly<Record<Lane, number>>> = {
  list: 64 * 1024 * 1024,
  watch: 64 * 1024,
  reviews: 64 * 1024,
};

function bodyLimits(lane: Lane): BodyLimits {
  return { bytes: LANE_ANSWER_BYTES[lane] ?? MAX_ANSWER_BYTES };
}

/**
 * Checked before parsing, because parsed JSON takes 20 times the memory of its text. A pod has about 300 JSON items
 * (members and elements).
 */
const JSON_BOUNDS: JsonBounds = { depth: 256, items: 200_000 };
const LIST_BOUNDS: JsonBounds = { depth: 256, items: 2_000_000 };

const KEEP_ALIVE_MS = 15_000;

export function createTransport(options: TransportOptions): Transport {
  const { clock } = options;
  const budgets = createLaneBudgets(clock);
  const agents = createAgentSource(options.connection);

  const attempt = async (request: KubernetesRequest, signal: AbortSignal): Promise<JsonObject> => {
    const exchange = await send(request, { ...options, agents, signal, isStream: false });
    return readAnswer(request, exchange);
  };

  const withRetries = async (request: KubernetesRequest, signal: AbortSignal): Promise<JsonObject> => {
    const endMs = clock.monotonicMs() + request.deadlineMs;
    for (let attempts = 1; ; attempts += 1) {
      await budgets[request.lane].take(signal);
      try {
        return await attempt(request, signal);
      } catch (error) {
        const waitMs = retryDelayMs(request, { error, attempts, clock });
        if (waitMs === null || clock.monotonicMs() + waitMs >= endMs) throw error;
        if (waitMs > 0) await sleep(clock, waitMs, signal);
        if (signal.aborted) throw error;
      }
    }
  };

  const open = async (request: KubernetesRequest, signal: AbortSignal): Promise<IncomingMessage> => {
    await budgets.watch.take(signal);
    const exchange = await send(request, { ...options, agents, signal, isStream: true });
    const { response } = exchange;
    if (response.statusCode === 200) return response;
    // If the body of an error cannot be read, its status is enough.
    const body = await readBody(response, bodyLimits('watch')).catch(() => NO_BODY);
    throw refusal(request, exchange, body.toString('utf8'));
  };

  return {
    request: (request) =>
      withDeadline(clock, { ms: request.deadlineMs, parent: request.signal }, (signal) =>
        withRetries(request, signal),
      ),
    openWatch: async (request) => {
      const body = await withDeadline(clock, { ms: request.deadlineMs, parent: request.signal }, (signal) =>
        open(request, signal),
      );
      return holdStream(body, request.signal);
    },
    close: () => agents.close(),
  };
}

interface Exchange {
  readonly response: IncomingMessage;
  /** The body of the response; empty for a stream. */
  readonly body: Buffer;
  readonly authorization: string | null;
  readonly clock: Clock;
}

interface Sending extends TransportOptions {
  readonly agents: AgentSource;
  readonly signal: AbortSignal;
  readonly isStream: boolean;
}

function send(request: KubernetesRequest, sending: Sending): Promise<Exchange> {
  const { connection, signal } = sending;
  const read = (fresh: boolean): Promise<string | null> =>
    credentials(request, () => connection.authorization(fresh));
  return sendWithRenewal({
    read: () => read(false),
    send: (authorization) => sendOnce(request, sending, authorization),
    renew: async ({ response }, used) => {
      if (response.statusCode !== 401 || signal.aborted) return null;
      const renewed = await read(true);
      if (renewed === used) return null;
      response.destroy();
      return renewed;
    },
  });
}

async function credentials<T>(request: KubernetesRequest, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw new KubernetesError('unauthorized', `${request.doing}: credentials: ${errorFacts(cause).message}`, {
      cause,
    });
  }
}

async function sendOnce(
  request: KubernetesRequest,
  sending: Sending,
  authorization: string | null,
): Promise<Exchange> {
  const { clock, signal, onRequest, connection, isStream } = sending;
  if (signal.aborted) throw abortError(request.doing, signal);
  const agents = await credentials(request, () => sending.agents.current());
  const startedMs = clock.monotonicMs();
  const report = (code: string, message?: string): void =>
    onRequest?.({
      verb: request.verb,
      resource: request.resource,
      code,
      ...(message === undefined ? {} : { message }),
      seconds: (clock.monotonicMs() - startedMs) / 1000,
    });
  try {
    const response = await sendHttp({
      method: METHODS[request.verb],
      url: `${connection.url}${request.path}${queryText(request.query)}`,
      headers: headersOf(request, sending, authorization),
      body: request.body === undefined ? null : JSON.stringify(request.body),
      signal,
      agents: { httpAgent: agents.http[request.lane], httpsAgent: agents.https[request.lane] },
    });
    // The names are read only for lists, because the certificate rarely changes. They are read before the body, because
    // the connection may close after the body.
    const names = request.lane === 'list' ? serverNames(response.socket) : null;
    if (names !== null) sending.onServerNames?.(names);
    const body = isStream ? NO_BODY : await readBody(response, bodyLimits(request.lane));
    report(String(response.statusCode));
    const { date } = response.headers;
    if (date !== undefined) sending.onServerDate?.(date);
    return { response, body, authorization, clock };
  } catch (cause) {
    // `cause` contains the token and must not leave this function.
    const error = connectionError(request.doing, cause, { signal, secret: authorization });
    report(error.kind, error.message);
    throw error;
  }
}

function headersOf(
  request: KubernetesRequest,
  { isStream, userAgent, headers, connection }: Sending,
  authorization: string | null,
): HttpRequest['headers'] {
  return {
    ...connection.headers,
    ...headers,
    Accept: 'application/json',
    'User-Agent': userAgent ?? 'promscaler',
    // A stream is not compressed, so that each event can be read when it arrives.
    'Accept-Encoding': isStream ? 'identity' : 'gzip',
    ...(authorization === null ? {} : { Authorization: authorization }),
    ...(request.body === undefined ? {} : { 'Content-Type': contentType(request) }),
  };
}

/** Returns the DNS names in the certificate of the server; null: the certificate was not verified. */
function serverNames(socket: unknown): readonly string[] | null {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return null;
  // The names are one string, such as `DNS:kubernetes, DNS:kubernetes.default, IP Address:10.96.0.1`.
  const names = socket.getPeerCertificate().subjectaltname ?? '';
  return Array.from(names.matchAll(/(?:^|, )DNS:([A-Za-z0-9.*-]+)(?=,|$)/g), ([, name]) => name ?? '');
}

function contentType({ verb }: KubernetesRequest): string {
  return verb === 'patch' ? 'application/merge-patch+json' : 'application/json';
}

function queryText(query: Readonly<Record<string, string>> | undefined): string {
  return query === undefined ? '' : `?${new URLSearchParams(query).toString()}`;
}

const NO_BODY = Buffer.alloc(0);

function readAnswer(request: KubernetesRequest, exchange: Exchange): JsonObject {
  const { response, body } = exchange;
  const { statusCode = 0 } = response;
  if (statusCode < 200 || statusCode > 299) throw refusal(request, exchange, body.toString('utf8'));
  return parseAnswer(request, statusCode, body);
}

/**
 * Parses the body of a 2xx response. Throws `bad_answer` if the content is partial, or if the body is not a single
 * object within the bounds. If `fields` is set, returns only these fields.
 */
function parseAnswer(request: KubernetesRequest, status: number, body: Buffer): JsonObject {
  const fail = (why: string): KubernetesError =>
    new KubernetesError('bad_answer', `${request.doing}: ${status}, but ${why}`);
  if (!isComplete(request, status)) throw fail('the response is not complete');
  request.onBody?.(body);
  let parsed: unknown;
  try {
    const bounds = request.lane === 'list' ? LIST_BOUNDS : JSON_BOUNDS;
    const { fields } = request;
    parsed = fields === undefined ? parseJsonWithin(body, bounds) : parseFields(body, fields, bounds);
  } catch (error) {
    throw fail(
      error instanceof JsonBoundsError
        ? `the response has ${error.message}`
        : 'the response is not valid JSON',
    );
  }
  const object = asObject(parsed);
  if (object === null) throw fail('the response is not an object');
  return object;
}

/** Throws the same errors as `parseJsonWithin`. */
function parseFields(body: Buffer, fields: JsonFields, bounds: JsonBounds): unknown {
  const pruned = pruneJson(body, fields, bounds);
  if (pruned === null) throw new SyntaxError('the JSON ends early');
  if ('excess' in pruned) throw new JsonBoundsError(pruned.excess);
  return JSON.parse(pruned.text);
}

/**
 * Returns whether the response is complete. 201 and 202 are responses to writes, 203 is a response that a proxy has
 * changed, and 206 is partial content.
 */
function isComplete(request: KubernetesRequest, status: number): boolean {
  return status === 200 || status === 203 || (!isRead(request) && (status === 201 || status === 202));
}

function isRead({ verb }: KubernetesRequest): boolean {
  return METHODS[verb] === 'GET';
}

function refusal(request: KubernetesRequest, exchange: Exchange, body: string): KubernetesError {
  const { response, authorization, clock } = exchange;
  return refusalError({
    doing: request.doing,
    status: response.statusCode ?? 0,
    body,
    retryAfter: response.headers['retry-after'] ?? null,
    now: clock.now(),
    secret: authorization,
  });
}

function retryDelayMs(
  request: KubernetesRequest,
  { error, attempts, clock }: { readonly error: unknown; readonly attempts: number; readonly clock: Clock },
): number | null {
  if (!(error instanceof KubernetesError) || attempts >= MAX_ATTEMPTS) return null;
  // Retries at once, because the server may have closed an idle connection, which only this request has detected.
  if (error.kind === 'connection')
    return attempts === 1 && (isRead(request) || request.isRepeatable === true) ? 0 : null;
  if (!isRead(request)) return null;
  const limitedMs = rateLimitMs(error, attempts);
  if (limitedMs !== null) return limitedMs;
  return error.kind === 'server_error' && error.retryAfterSeconds !== null
    ? Math.max(error.retryAfterSeconds, 0.5) * 1000 * (1 + clock.random())
    : null;
}

/** Returns a stream whose connection is destroyed by `signal` or `close`. */
function holdStream(body: IncomingMessage, signal: AbortSignal | undefined): WatchStream {
  body.socket.setKeepAlive(true, KEEP_ALIVE_MS);
  const stop = (): void => void body.destroy();
  if (signal?.aborted === true) stop();
  if (signal !== undefined) body.on('close', onAbort(signal, stop));
  // Without a listener, an error between two reads would end the process. The reader gets the error, too.
  body.on('error', () => undefined);
  return { chunks: body as AsyncIterable<Buffer>, close: stop };
}
