import type { Agent as HttpAgent, IncomingMessage } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import { AxiosError, AxiosHeaders } from 'axios';
import { type HttpRequest, sendHttp } from '../../http/http-request.js';
import { DeadlineError } from '../../units/clock.js';
import { errorCode } from '../../units/error-code.js';
import { type StopSignal, withAbortSignal } from '../../units/light-deadline.js';
import { sendWithRenewal } from '../../units/send-with-renewal.js';
import type { AnswerLimits, FailureReason } from '../answers/answer.js';
import type { HttpAnswer } from '../answers/classify.js';
import { CredentialError } from './credential-files.js';
import type { OutgoingRequest, SignedHeaders, SignIn } from './authentication.js';
import { OverloadError, TooLargeError, type Unread } from './read-body.js';
import { readResponse } from './read-response.js';

export interface Connection {
  readonly httpAgent: HttpAgent;
  readonly httpsAgent: HttpsAgent;
  readonly headers: Readonly<Record<string, string>>;
  /** Strings that must not appear in any message. */
  readonly secrets: readonly string[];
  /** Adds headers to each request; null: `headers` are complete. */
  readonly signIn: SignIn | null;
  /** Bounded, so that a hostile source cannot exhaust the memory. */
  readonly unread?: Unread;
  /** Default: `DEFAULT_LIMITS`. */
  readonly limits?: AnswerLimits;
  /** Resolves in a turn of the event loop for the end of one large answer. Default: all end as they arrive. */
  readonly takeTurn?: () => Promise<void>;
}

export interface Request {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** The body of a POST, or the query string of a GET. Text is encoded as a form. */
  readonly parameters: Readonly<Record<string, string>> | string;
  readonly connection: Connection;
  /** Its reason distinguishes a timeout (`DeadlineError`) from a cancellation. */
  readonly signal: StopSignal;
  readonly accept?: string | undefined;
  /** Whether the server may compress the answer; default true. */
  readonly mayCompress?: boolean | undefined;
  /** Whether the caller checks the bounds of the JSON of a small answer, with `whyTooLarge`, before it reads `body`. */
  readonly checksBounds?: boolean | undefined;
}

/** A complete HTTP answer with any status, or why there is none. Contains no secrets. */
export type SendResult =
  | Answered
  | {
      readonly kind: 'failed';
      readonly reason: FailureReason;
      readonly message: string;
      readonly code?: string | null;
    };

interface Answered extends HttpAnswer {
  readonly kind: 'answered';
  /** The header. */
  readonly retryAfter: string | null;
  /** Target of a redirect, which is not followed; null: no redirect. */
  readonly location: string | null;
  /** Whether a response header contains the host name, as in VictoriaMetrics. */
  readonly hasServerHostname: boolean;
  /** The body as it was sent. */
  readonly bytes?: Buffer;
}

/**
 * Sends a request to a data source, and again if it was rejected with a token that has been renewed since. Only http
 * and https. Uses no proxy from the environment and follows no redirects, which would send the credentials to another
 * server. Never throws.
 */
export function send(request: Request): Promise<SendResult> {
  const { signIn } = request.connection;
  const outgoing = outgoingOf(request);
  if (!/^https?:\/\//i.test(outgoing.url))
    return Promise.resolve(failed('connection', 'the url is neither http nor https'));
  return signIn === null ? exchange(request, outgoing, NOT_SIGNED) : sendSigned(request, outgoing, signIn);
}

async function sendSigned(request: Request, outgoing: OutgoingRequest, signIn: SignIn): Promise<SendResult> {
  try {
    const read = (): Promise<SignedHeaders> =>
      withAbortSignal(request.signal, (signal) => signIn.headersFor(outgoing, signal));
    return await sendWithRenewal({
      read,
      send: (signed) => exchange(request, outgoing, signed),
      renew: async (result, used) =>
        result.kind === 'answered' && signIn.renew(result.status, used) ? read() : null,
    });
  } catch (error) {
    if (error instanceof CredentialError) return failed('unauthorized', error.message, 'SIGN_IN');
    return explain(error, request.signal);
  }
}

const NOT_SIGNED: Pick<SignedHeaders, 'headers' | 'secrets'> = { headers: {}, secrets: [] };

function outgoingOf({ method, url, parameters }: Request): OutgoingRequest {
  const form = typeof parameters === 'string' ? parameters : new URLSearchParams(parameters).toString();
  return method === 'POST'
    ? { method, url, body: form, contentType: 'application/x-www-form-urlencoded' }
    : { method, url: form === '' ? url : `${url}?${form}`, body: null, contentType: null };
}

/** Never throws. */
async function exchange(
  request: Request,
  { method, url, body, contentType }: OutgoingRequest,
  signed: typeof NOT_SIGNED,
): Promise<SendResult> {
  const { connection, signal } = request;
  try {
    const headers = headersOf(request, contentType, signed);
    const response = await sendHttp({ method, url, headers, body, signal, agents: connection });
    const bytes = await readResponse(response, connection, request.checksBounds);
    return new Received(response, withoutSecrets(bytes, signed.secrets));
  } catch (error) {
    return explain(error, signal);
  }
}

/** A class, because an object with its own getter takes 2 KB. */
class Received implements Answered {
  readonly kind = 'answered';
  readonly status: number;
  readonly contentType: string | null;
  readonly retryAfter: string | null;
  readonly location: string | null;
  readonly hasServerHostname: boolean;
  readonly bytes: Buffer;
  #text: string | null = null;

  constructor({ statusCode = 0, headers }: IncomingMessage, bytes: Buffer) {
    this.status = statusCode;
    this.contentType = textOrNull(headers['content-type']);
    this.retryAfter = textOrNull(headers['retry-after']);
    this.location = textOrNull(headers['location']);
    this.hasServerHostname = textOrNull(headers['x-server-hostname']) !== null;
    this.bytes = bytes;
  }

  get body(): string {
    return (this.#text ??= this.bytes.toString('utf8'));
  }
}

/** A server may quote the request in its error message. */
function withoutSecrets(bytes: Buffer, secrets: readonly string[]): Buffer {
  if (secrets.length === 0) return bytes;
  const found = secrets.filter((secret) => bytes.includes(secret));
  if (found.length === 0) return bytes;
  return Buffer.from(
    found.reduce((left, secret) => left.replaceAll(secret, '[secret]'), bytes.toString('utf8')),
  );
}

type HttpHeaders = HttpRequest['headers'];

/** Of requests without a signature, by connection and by the values that differ between requests. */
const knownHeaders = new WeakMap<Connection, KnownHeaders[]>();

interface KnownHeaders extends Pick<Request, 'accept' | 'mayCompress'> {
  readonly contentType: string | null;
  readonly headers: HttpHeaders;
}

function headersOf(request: Request, contentType: string | null, signed: typeof NOT_SIGNED): HttpHeaders {
  if (signed !== NOT_SIGNED) return createHeaders(request, contentType, signed);
  const { connection, accept, mayCompress } = request;
  let known = knownHeaders.get(connection);
  if (known === undefined) knownHeaders.set(connection, (known = []));
  for (const one of known)
    if (one.accept === accept && one.mayCompress === mayCompress && one.contentType === contentType)
      return one.headers;
  const headers = createHeaders(request, contentType, signed);
  known.push({ accept, mayCompress, contentType, headers });
  return headers;
}

function createHeaders(
  { connection, accept = 'application/json', mayCompress = true }: Request,
  contentType: string | null,
  signed: typeof NOT_SIGNED,
): HttpHeaders {
  // Later names replace earlier ones, also of another case.
  const headers = new AxiosHeaders({
    'User-Agent': 'promscaler',
    ...connection.headers,
    ...signed.headers,
    Accept: accept,
    'Accept-Encoding': mayCompress ? 'gzip' : 'identity',
    ...(contentType === null ? {} : { 'Content-Type': contentType }),
  });
  return headers.toJSON();
}

/** Uses only the code of an AxiosError, because the error contains the whole request with its token. */
function explain(error: unknown, signal: StopSignal): SendResult {
  if (signal.aborted) {
    const reason: unknown = signal.reason;
    return reason instanceof DeadlineError
      ? failed('timeout', reason.message)
      : failed('canceled', 'the query was canceled');
  }
  if (error instanceof TooLargeError) return failed('too_large', error.message);
  if (error instanceof OverloadError) return failed('busy', error.message);
  const code = codeOf(error);
  if (code?.startsWith('Z_') === true) return failed('bad_answer', 'the compressed answer is broken');
  if (code?.startsWith('HPE_') === true) return failed('bad_answer', 'the answer is not HTTP');
  const words = CONNECTION_WORDS[code ?? ''] ?? `no connection (${code ?? 'unknown error'})`;
  return failed('connection', words, code ?? null);
}

/** An error that is no AxiosError occurred while the body was read. */
function codeOf(error: unknown): string | undefined {
  if (error instanceof AxiosError) return error.code;
  const code = errorCode(error);
  return code === 'ECONNRESET' ? 'ECONNABORTED' : code;
}

const CONNECTION_WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was reset',
  ECONNABORTED: 'the connection was cut off',
  ERR_BAD_RESPONSE: 'the connection was cut off',
  EPIPE: 'the connection was cut off',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the name server does not answer',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the connection timed out',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed: set tls.caFile',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate is signed by an unknown authority: set tls.caFile',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate is signed by an unknown authority: set tls.caFile',
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
