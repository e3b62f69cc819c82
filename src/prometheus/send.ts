import type { Agent as HttpAgent } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import axios, { AxiosError } from 'axios';
import { DeadlineError } from '../units/clock.js';
import type { FailureReason } from './answer.js';
import type { HttpAnswer } from './classify-answer.js';
import { CredentialError } from './credential-files.js';
import type { OutgoingRequest, SignedHeaders, SignIn } from './sign-in/sign-in.js';

/** What a request to a data source needs beside its address. */
export interface Connection {
  readonly httpAgent: HttpAgent;
  readonly httpsAgent: HttpsAgent;
  readonly headers: Readonly<Record<string, string>>;
  /** What must not appear in any message. */
  readonly secrets: readonly string[];
  /** Gives each request headers of its own; null: `headers` are all. */
  readonly signIn: SignIn | null;
}

export interface Request {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** The form of a POST, the query string of a GET. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly connection: Connection;
  /** Its reason tells a timeout (`DeadlineError`) from a cancellation. */
  readonly signal: AbortSignal;
  /** What is asked for; JSON unless said otherwise. */
  readonly accept?: string;
}

/** A whole answer over HTTP, whatever its status, or why there is none: in our words, without a secret. */
export type SendResult =
  | (HttpAnswer & {
      readonly kind: 'answered';
      readonly retryAfterSeconds: number | null;
      /** Where a redirect leads, which is not followed; null: no redirect. */
      readonly location: string | null;
    })
  | {
      readonly kind: 'failed';
      readonly reason: FailureReason;
      readonly message: string;
      /** Of the runtime: `ECONNREFUSED`; null where there is none. */
      readonly code?: string | null;
    };

/** After decompression. A 23 MB answer blocks the loop for 141 ms. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/**
 * One request to a data source, and a second one where the first was refused with a token that has since been renewed.
 * Only http and https; no proxy from the environment, no redirects (they would carry our headers to another server).
 * Never throws.
 */
export async function send(request: Request): Promise<SendResult> {
  const { signIn } = request.connection;
  const outgoing = outgoingOf(request);
  if (!/^https?:\/\//i.test(outgoing.url)) return failed('connection', 'the url is neither http nor https');
  try {
    if (signIn === null) return await exchange(request, outgoing, NOT_SIGNED);
    const signed = await signIn.headersFor(outgoing, request.signal);
    const first = await exchange(request, outgoing, signed);
    if (first.kind === 'failed' || !signIn.renew(first.status, signed)) return first;
    return await exchange(request, outgoing, await signIn.headersFor(outgoing, request.signal));
  } catch (error) {
    if (error instanceof CredentialError) return failed('unauthorized', error.message, 'SIGN_IN');
    return explain(error, request.signal);
  }
}

const NOT_SIGNED: Pick<SignedHeaders, 'headers' | 'secrets'> = { headers: {}, secrets: [] };

function outgoingOf({ method, url, parameters }: Request): OutgoingRequest {
  const form = new URLSearchParams(parameters).toString();
  return method === 'POST'
    ? { method, url, body: form, contentType: 'application/x-www-form-urlencoded' }
    : { method, url: form === '' ? url : `${url}?${form}`, body: null, contentType: null };
}

async function exchange(
  request: Request,
  { method, url, body, contentType }: OutgoingRequest,
  signed: typeof NOT_SIGNED,
): Promise<SendResult> {
  const { connection, signal } = request;
  const response = await axios.request<string>({
    method,
    url,
    ...(body === null ? {} : { data: body }),
    headers: {
      'User-Agent': 'promscaler',
      ...connection.headers,
      ...signed.headers,
      Accept: request.accept ?? 'application/json',
      ...(contentType === null ? {} : { 'Content-Type': contentType }),
    },
    signal,
    adapter: 'http',
    httpAgent: connection.httpAgent,
    httpsAgent: connection.httpsAgent,
    proxy: false,
    maxRedirects: 0,
    maxContentLength: MAX_ANSWER_BYTES,
    responseType: 'text',
    transformResponse: [(text: unknown) => text],
    validateStatus: () => true,
  });
  return {
    kind: 'answered',
    status: response.status,
    contentType: textOrNull(response.headers['content-type']),
    // A server may repeat what it was sent in its error text.
    body: signed.secrets.reduce((left, secret) => left.replaceAll(secret, '[secret]'), response.data),
    retryAfterSeconds: secondsOrNull(response.headers['retry-after']),
    location: textOrNull(response.headers['location']),
  };
}

/** An AxiosError holds the whole request, token included: nothing of it but its code is passed on. */
function explain(error: unknown, signal: AbortSignal): SendResult {
  if (signal.aborted) {
    const reason: unknown = signal.reason;
    return reason instanceof DeadlineError
      ? failed('timeout', reason.message)
      : failed('canceled', 'the query was canceled');
  }
  const code = error instanceof AxiosError ? error.code : undefined;
  if (
    code === AxiosError.ERR_BAD_RESPONSE &&
    error instanceof Error &&
    error.message.includes('maxContentLength')
  ) {
    return failed('too_large', `the answer is larger than ${MAX_ANSWER_BYTES / 1024 / 1024} MiB`);
  }
  if (code?.startsWith('Z_') === true) return failed('bad_answer', 'the compressed answer is broken');
  if (code?.startsWith('HPE_') === true) return failed('bad_answer', 'the answer is not HTTP');
  const words = CONNECTION_WORDS[code ?? ''] ?? `no connection (${code ?? 'unknown error'})`;
  return failed('connection', words, code ?? null);
}

const CONNECTION_WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was reset',
  ECONNABORTED: 'the connection was cut off',
  ERR_BAD_RESPONSE: 'the connection was cut off',
  EPIPE: 'the connection was cut off',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the name server does not answer',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the connection timed out',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed: set tls.caFile',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate is of an unknown authority: set tls.caFile',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate is of an unknown authority: set tls.caFile',
  EPROTO: 'the TLS handshake failed: is that port plain http?',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host name: set tls.serverName',
};

function failed(reason: FailureReason, message: string, code: string | null = null): SendResult {
  return { kind: 'failed', reason, message, code };
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function secondsOrNull(value: unknown): number | null {
  return typeof value === 'string' && /^\d{1,6}$/.test(value) ? Number(value) : null;
}
