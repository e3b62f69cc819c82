import { type Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { type Agent as HttpsAgent, request as requestHttps } from 'node:https';
import axios, { AxiosError } from 'axios';
import { DeadlineError } from '../units/clock.js';
import { CANCELED, errorCode, failed, type Failure } from '../units/failure.js';
import { type Instant, instantFromMs, secondsBetween } from '../units/time.js';
import { OverloadError, TooLargeError } from './read-body.js';

export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  /** All headers except `Host` and `Content-Length`. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | null;
  /**
   * If the signal is aborted before the body has been read, the connection is destroyed. The abort reason is a
   * `DeadlineError` for a timeout.
   */
  readonly signal: AbortSignal;
  readonly agents: HttpAgents;
}

export interface HttpAgents {
  readonly httpAgent: HttpAgent;
  readonly httpsAgent: HttpsAgent;
}

const client = axios.create({
  adapter: 'http',
  responseType: 'stream',
  // `readBody` decompresses instead, so that it can limit the size before and after decompression.
  decompress: false,
  // A redirect would send the credentials to another server.
  maxRedirects: 0,
  // Ignores variables such as HTTPS_PROXY, which are meant for other programs. `agents` may use the proxy of a
  // kubeconfig.
  proxy: false,
  // Bodies are text already. axios would parse and write JSON again.
  transformRequest: [],
  transformResponse: [],
  validateStatus: null,
});
// Removes the default headers of axios: a server gets only the headers of the request.
client.defaults.headers = { common: {} } as typeof client.defaults.headers;

/**
 * Sends a request and returns the response, whatever its status. The body may be compressed and must be read with
 * `readBody`. Follows no redirects and ignores variables such as HTTPS_PROXY. Errors contain the credentials of the
 * request, so callers must not log an error but pass it to `failureWithoutAnswer`.
 */
export async function sendHttp({ agents, body, headers, ...request }: HttpRequest): Promise<IncomingMessage> {
  mustBeHttp(request.url);
  const { data } = await client.request<IncomingMessage>({
    ...request,
    ...agents,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
    ),
    ...(body === null ? {} : { data: body }),
  });
  return data;
}

/**
 * Like `sendHttp`, but without axios, which takes 0.5 ms of CPU time per request. For the 212 queries of a round with
 * 10,000 scalers, axios would take 17 % of the CPU time of the round. The 30 requests of this round to the API server
 * use axios, because it takes less than 3 % for them.
 */
export function sendQuery({ url, agents, body, ...options }: QueryRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    mustBeHttp(url);
    const request = /^https/i.test(url)
      ? requestHttps(url, { ...options, agent: agents.httpsAgent }, resolve)
      : requestHttp(url, { ...options, agent: agents.httpAgent }, resolve);
    request.on('error', (error: NodeJS.ErrnoException) => reject(AxiosError.from(error, error.code)));
    request.end(body);
  });
}

interface QueryRequest extends HttpRequest {
  readonly headers: Readonly<Record<string, string>>;
}

function mustBeHttp(url: string): void {
  if (!/^https?:\/\//i.test(url)) throw new AxiosError('not http', 'ERR_INVALID_PROTOCOL');
}

/**
 * Returns why no complete response arrived, for an error of `sendHttp`, `sendQuery` or `readBody`. A response with an
 * error status, such as 500, causes no such error. The message contains no part of the request.
 */
export function failureWithoutAnswer(error: unknown, signal: AbortSignal): Failure {
  if (signal.aborted) {
    const reason: unknown = signal.reason;
    return reason instanceof DeadlineError ? failed('timeout', reason.message) : CANCELED;
  }
  if (error instanceof TooLargeError) return failed('too_large', error.message);
  if (error instanceof OverloadError) return failed('busy', error.message);
  const code = codeOf(error);
  if (code?.startsWith('Z_') === true) return failed('bad_answer', 'the compressed answer is broken');
  if (code?.startsWith('HPE_') === true) return failed('bad_answer', 'the answer is not HTTP', code);
  const message = CONNECTION_WORDS[code ?? ''] ?? `no connection (${code ?? 'unknown error'})`;
  return failed('connection', message, code);
}

/** Returns the code of an error. An error while a body is read is not an AxiosError. */
function codeOf(error: unknown): string | undefined {
  if (error instanceof AxiosError) return error.code;
  const code = errorCode(error);
  return code === 'ECONNRESET' ? 'ECONNABORTED' : code;
}

const CONNECTION_WORDS: Readonly<Record<string, string>> = {
  ERR_INVALID_PROTOCOL: 'the URL is neither http nor https',
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was reset',
  ECONNABORTED: 'the connection was closed early',
  ERR_BAD_RESPONSE: 'the connection was closed early',
  ERR_STREAM_PREMATURE_CLOSE: 'the connection was closed early',
  EPIPE: 'the connection was closed early',
  ENOTFOUND: 'the host name cannot be resolved',
  EAI_AGAIN: 'the DNS server does not answer',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the connection timed out',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed: set tls.caFile',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate is signed by an unknown CA: set tls.caFile',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate is signed by an unknown CA: set tls.caFile',
  EPROTO: 'the TLS handshake failed: the port may serve plain http',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host name: set tls.serverName',
};

/**
 * Returns the seconds in a `Retry-After`, which is a number or a date (RFC 9110 section 10.2.3); at least 0 and at most
 * `most`. Null: the header is missing or invalid.
 */
export function retryAfterSeconds(
  header: string | null,
  { now, most }: { readonly now: Instant; readonly most: number },
): number | null {
  const text = header?.trim() ?? '';
  if (text === '') return null;
  const seconds = /^\d+$/.test(text) ? Number(text) : secondsBetween(now, instantFromMs(Date.parse(text)));
  return Number.isNaN(seconds) ? null : Math.min(Math.max(seconds, 0), most);
}

/** Removes slashes at the end. The lookbehind keeps the time linear in the length of the URL. */
export function withoutTrailingSlashes(url: string): string {
  return url.replace(/(?<!\/)\/+$/, '');
}
