import { Agent as HttpAgent, type IncomingMessage } from 'node:http';
import {
  createSecretFile,
  CredentialError,
  type SecretFile,
  sendWithRenewal,
} from '../../http/credentials.js';
import { failureWithoutAnswer, type HttpAgents, sendHttp, sendQuery } from '../../http/http-client.js';
import { BodyPool, type BodyLimits, readBody, TooLargeError } from '../../http/read-body.js';
import { createTlsAgent } from '../../http/tls.js';
import { type Clock, sleep, withDeadline } from '../../units/clock.js';
import { type AnswerLimits, answerLimits, sayBytes } from '../answers/answer.js';
import { failed, type Failure } from '../../units/failure.js';
import type { HttpAnswer } from '../answers/classify.js';
import type { SignInConfig, SourceConfig } from '../data-source/source-config.js';
import { createAzure } from '../sign-in/azure.js';
import { createGoogle } from '../sign-in/google.js';
import { createOAuth2 } from '../sign-in/oauth2.js';
import type { Environment, OutgoingRequest, SignedHeaders, SignIn } from '../sign-in/sign-in.js';
import { createSigV4 } from '../sign-in/sigv4.js';

export interface QueryOptions {
  /** The time limit for all URLs of a source together, at least 1 ms. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** False: each URL is tried only once, because the source is known to fail. Default: true. */
  readonly mayRetry?: boolean;
  /** The only namespace that needs the query. Unset: several namespaces or the service itself need the query. */
  readonly namespace?: string | undefined;
}

export interface SourceRequest {
  /** The full URL, including the path. */
  readonly url: string;
  readonly parameters?: Readonly<Record<string, string>>;
  /**
   * Whether the request is a query. A round has hundreds of queries, so they are sent without axios (see `sendQuery`).
   * The parameters are sent as a form unless the server rejects POST, because a query may be too long for a URL.
   */
  readonly isQuery?: boolean;
  /** The limit of all attempts together. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** The media types to accept; default: JSON. */
  readonly accept?: string | undefined;
}

/** A complete HTTP response with any status, or the reason why none arrived. */
export type SendResult = HttpReply | Failure;

export interface HttpReply extends HttpAnswer {
  readonly class: 'answered';
  readonly retryAfter: string | null;
  /** Target of a redirect, which is not followed; null: no redirect. */
  readonly location: string | null;
  /** Whether a response header contains the host name, as VictoriaMetrics sends it. */
  readonly hasServerHostname: boolean;
  readonly bytes: Buffer;
  /** Replaces the credentials of the request in a string, because a server may quote them in its error message. */
  readonly redact: (text: string) => string;
}

/** Sends a request to a data source with its credentials. Never rejects. */
export type Send = (request: SourceRequest) => Promise<SendResult>;

interface Credentials extends SignedHeaders {
  /** Strings that are replaced in bodies, too: see `withoutSecrets`. */
  readonly bodySecrets: readonly string[];
}

const MIN_SECRET_LENGTH = 4;

/**
 * Creates a function that sends requests to the servers of one data source. The servers share connections, credentials
 * and the limit for answers. After a 401, a request is sent again if the token has been replaced since. If the server
 * rejects POST, the request is sent again with GET.
 */
export function createSend(config: SourceConfig, clock: Clock, env: Environment = {}): Send {
  const httpAgent = new HttpAgent({ keepAlive: true });
  const httpsAgent = createTlsAgent(config.tls, clock);
  const signIn = config.signIn === null ? null : createSignIn(config.signIn, clock, env);
  const secretFile = (path: string, setting: string): SecretFile =>
    createSecretFile({ path, clock, setting });
  const token =
    config.bearerTokenFile === null ? null : secretFile(config.bearerTokenFile, 'bearerTokenFile');
  const password =
    config.basicAuth === null ? null : secretFile(config.basicAuth.passwordFile, 'basicAuth.passwordFile');
  const limits = answerLimits(config);
  let lastTurn = Promise.resolve();
  const bodyLimits: BodyLimits = {
    bytes: limits.answerBytes,
    json: limits.json,
    pool: new BodyPool(limits.unreadBytes),
    // Answers that end at the same time take turns: without pauses between them, large answers would block all other
    // work.
    yieldIfDue: () => (lastTurn = lastTurn.then(() => sleep(clock, 0))),
  };
  const refusesPost = new Set<string>();

  const credentials = async (
    outgoing: OutgoingRequest,
    signal: AbortSignal,
    isForced = false,
  ): Promise<Credentials> => {
    const passwordText = (await password?.read()) ?? null;
    const tokenText = (await token?.read(isForced)) ?? null;
    const secrets = Object.values(config.headers);
    let { headers } = config;
    if (config.basicAuth !== null && passwordText !== null) {
      const encoded = Buffer.from(`${config.basicAuth.username}:${passwordText}`).toString('base64');
      secrets.push(passwordText, encoded);
      headers = withAuthorization(headers, `Basic ${encoded}`);
    }
    if (tokenText !== null) {
      secrets.push(tokenText);
      headers = withAuthorization(headers, `Bearer ${tokenText}`);
    }
    const signed = await signIn?.(outgoing, signal).catch(asSignInError);
    return {
      headers: { ...headers, ...signed?.headers },
      secrets: secrets.filter((text) => text.length >= MIN_SECRET_LENGTH),
      bodySecrets: signed?.secrets ?? [],
      renew: signed?.renew ?? ((status) => token !== null && status === 401),
    };
  };

  const attempt = async (request: SourceRequest, signal: AbortSignal): Promise<SendResult> => {
    const outgoing = outgoingOf(request, refusesPost.has(request.url));
    const exchange = async ({ headers, secrets, bodySecrets }: Credentials): Promise<HttpReply> => {
      const agents: HttpAgents = { httpAgent, httpsAgent: await httpsAgent() };
      const { method, url, body, contentType } = outgoing;
      const transmit = request.isQuery === true ? sendQuery : sendHttp;
      const response = await transmit({
        method,
        url,
        headers: {
          'User-Agent': 'promscaler',
          ...headers,
          Accept: request.accept ?? 'application/json',
          'Accept-Encoding': 'gzip',
          ...(contentType === null ? {} : { 'Content-Type': contentType }),
        },
        body,
        signal,
        agents,
      });
      const bytes = withoutSecrets(await readBody(response, bodyLimits), bodySecrets);
      return new Received(response, bytes, secrets);
    };
    return sendWithRenewal({
      read: () => credentials(outgoing, signal),
      send: exchange,
      renew: async ({ status }, used) => (used.renew(status) ? credentials(outgoing, signal, true) : null),
    });
  };

  const attempts = async (request: SourceRequest, signal: AbortSignal): Promise<SendResult> => {
    const result = await attempt(request, signal);
    const isRefused = result.class === 'answered' && [405, 501].includes(result.status);
    if (request.isQuery !== true || !isRefused || refusesPost.has(request.url)) return result;
    refusesPost.add(request.url);
    return attempt(request, signal);
  };

  return ({ timeoutMs: ms, signal: parent, ...request }) =>
    withDeadline(clock, { ms, parent }, async (signal) => {
      try {
        return await attempts({ ...request, timeoutMs: ms }, signal);
      } catch (error) {
        return failureTo(error, signal, limits);
      }
    });
}

/** Returns host and port of the URL of a data source, for messages. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'the data source';
}

class SignInError extends CredentialError {}

function asSignInError(error: unknown): never {
  throw error instanceof CredentialError ? new SignInError(error.message) : error;
}

function failureTo(error: unknown, signal: AbortSignal, limits: AnswerLimits): Failure {
  if (error instanceof CredentialError) {
    const code = error instanceof SignInError ? 'SIGN_IN' : 'CREDENTIAL_FILE';
    return failed('unauthorized', error.message, code);
  }
  const failure = failureWithoutAnswer(error, signal);
  return { ...failure, message: settingOf(error, failure, limits) ?? failure.message };
}

/** Returns a message that names the setting whose limit the answer exceeded; null: no limit was exceeded. */
function settingOf(
  error: unknown,
  { reason }: Failure,
  { answerBytes, unreadBytes, series }: AnswerLimits,
): string | null {
  if (reason === 'busy')
    return `the answers in progress exceed ${sayBytes(unreadBytes)} in total (3 times maxAnswerBytes)`;
  if (reason !== 'too_large' || !(error instanceof TooLargeError)) return null;
  return error.json === null
    ? `the answer is larger than maxAnswerBytes (${sayBytes(answerBytes)})`
    : `the answer has ${error.json} (maxSeries is ${series})`;
}

function outgoingOf({ url, parameters = {}, isQuery }: SourceRequest, refusesPost: boolean): OutgoingRequest {
  const form = new URLSearchParams(parameters).toString();
  return isQuery === true && !refusesPost
    ? { method: 'POST', url, body: form, contentType: 'application/x-www-form-urlencoded' }
    : { method: 'GET', url: form === '' ? url : `${url}?${form}`, body: null, contentType: null };
}

function withAuthorization(
  headers: Readonly<Record<string, string>>,
  value: string,
): Readonly<Record<string, string>> {
  const others = Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'authorization');
  return { ...Object.fromEntries(others), Authorization: value };
}

/** A class instead of an object literal, because an object with its own getter takes 2 KB. */
class Received implements HttpReply {
  readonly class = 'answered';
  readonly status: number;
  readonly contentType: string | null;
  readonly retryAfter: string | null;
  readonly location: string | null;
  readonly hasServerHostname: boolean;
  readonly bytes: Buffer;
  readonly #secrets: readonly string[];
  #text: string | null = null;

  constructor({ statusCode = 0, headers }: IncomingMessage, bytes: Buffer, secrets: readonly string[]) {
    this.status = statusCode;
    this.contentType = headers['content-type'] ?? null;
    this.retryAfter = headers['retry-after'] ?? null;
    this.location = headers.location ?? null;
    this.hasServerHostname = headers['x-server-hostname'] !== undefined;
    this.bytes = bytes;
    this.#secrets = secrets;
  }

  get body(): string {
    return (this.#text ??= this.bytes.toString('utf8'));
  }

  redact(text: string): string {
    return this.#secrets.reduce((left, secret) => left.replaceAll(secret, '[secret]'), text);
  }
}

/** Replaces tokens in a body. Must not be used for secrets of `headers`, because a label may have the same value. */
function withoutSecrets(bytes: Buffer, secrets: readonly string[]): Buffer {
  const found = secrets.filter((secret) => bytes.includes(secret));
  if (found.length === 0) return bytes;
  return Buffer.from(
    found.reduce((left, secret) => left.replaceAll(secret, '[secret]'), bytes.toString('utf8')),
  );
}

/** Sends nothing and loads no library before the first request. */
function createSignIn(config: SignInConfig, clock: Clock, env: Environment): SignIn {
  switch (config.way) {
    case 'oauth2':
      return createOAuth2(config, clock);
    case 'sigv4':
      return createSigV4(config, clock);
    case 'azure':
      return createAzure(config, clock, env);
    case 'google':
      return createGoogle(clock);
    default:
      throw new Error(`unknown authentication method: ${JSON.stringify(config satisfies never)}`);
  }
}
