import { asObject } from '../../scaler/plain-json.js';
import { STATUS_CODES } from 'node:http';
import { DeadlineError } from '../../units/clock.js';
import type { Instant } from '../../units/time.js';
import { TooLargeError } from '../../http/read-body.js';
import { retryAfterSeconds } from '../../http/http-client.js';
import { parseJsonWithin, type JsonBounds } from '../../units/json-bounds.js';
import { cleanText } from '../../units/clean-text.js';
import { errorFacts, countIn, textIn } from '../api/json.js';
import { KubernetesError, type KubernetesErrorKind } from '../api/types.js';

const MAX_SERVER_MESSAGE = 500;
const MAX_RETRY_AFTER_SECONDS = 60;
const REFUSAL_BOUNDS: JsonBounds = { depth: 64, items: 100_000 };

interface Refusal {
  /** What was requested, for the message: `reading scale of deployment shop/web`. */
  readonly doing: string;
  readonly status: number;
  readonly body: string;
  readonly retryAfter: string | null;
  readonly now: Instant;
  /** A secret that is removed from the message, because a server may quote it. */
  readonly secret: string | null;
}

/** Returns the error for a response that is no success. Its message is `DOING: 403 Forbidden: MESSAGE`. */
export function refusalError(refusal: Refusal): KubernetesError {
  const { doing, status, body, secret } = refusal;
  const words = redact(serverMessage(body), secret);
  const title = `${status} ${STATUS_CODES[status] ?? 'unknown status'}`;
  return new KubernetesError(kindOfStatus(status), `${doing}: ${title}${words === '' ? '' : `: ${words}`}`, {
    status,
    retryAfterSeconds: retryAfterSeconds(refusal.retryAfter, {
      now: refusal.now,
      most: MAX_RETRY_AFTER_SECONDS,
    }),
  });
}

/** A 3xx is an error, because API servers do not redirect their clients. */
function kindOfStatus(status: number): KubernetesErrorKind {
  switch (status) {
    case 401:
      return 'unauthorized';
    case 403:
      return 'forbidden';
    case 404:
      return 'not_found';
    case 409:
      return 'conflict';
    case 410:
      return 'gone';
    case 429:
      return 'rate_limited';
    default:
      if (status >= 500) return 'server_error';
      return status >= 400 ? 'invalid' : 'bad_answer';
  }
}

/**
 * Returns the error for a request without a usable response. Uses only the code and the message of `cause`, because
 * its other fields may contain a token.
 */
export function connectionError(
  doing: string,
  cause: unknown,
  context: { readonly signal: AbortSignal; readonly secret: string | null },
): KubernetesError {
  if (context.signal.aborted) return abortError(doing, context.signal);
  const { code, message } = errorFacts(cause);
  // An AggregateError about several addresses has no message.
  const words = redact(clean(message) === '' ? 'no connection' : clean(message), context.secret);
  const known = code === '' || words.includes(code) ? words : `${words} (${code})`;
  const kind = cause instanceof TooLargeError ? 'bad_answer' : 'connection';
  return new KubernetesError(kind, `${doing}: ${known}`, { cause: new Error(known) });
}

export function abortError(doing: string, signal: AbortSignal): KubernetesError {
  const reason: unknown = signal.reason;
  if (reason instanceof DeadlineError)
    return new KubernetesError('timeout', `${doing}: ${reason.message}`, { cause: reason });
  return new KubernetesError('canceled', `${doing}: canceled`);
}

/**
 * Returns the message in a body: a Status object, a response of a service behind the API proxy, or plain text. HTML is
 * ignored.
 */
function serverMessage(body: string): string {
  let parsed: unknown;
  try {
    parsed = parseJsonWithin(body, REFUSAL_BOUNDS);
  } catch {
    return body.trimStart().startsWith('<') ? '' : clean(body);
  }
  const status = asObject(parsed);
  return clean(textIn(status, 'message') ?? textIn(status, 'reason') ?? textIn(status, 'error') ?? '');
}

function clean(text: string): string {
  const line = cleanText(text.replace(/\p{Cc}+/gu, ' ').trim());
  return line.length > MAX_SERVER_MESSAGE ? `${line.slice(0, MAX_SERVER_MESSAGE)}...` : line;
}

function redact(text: string, secret: string | null): string {
  if (secret === null) return text;
  const bare = secret.replace(/^\S+ /, '');
  return bare === '' ? text : text.replaceAll(bare, '[redacted]');
}

export function statusObjectError(doing: string, object: unknown): KubernetesError {
  const status = asObject(object);
  const code = countIn(status, 'code') ?? 0;
  const isExpired = ['Expired', 'Gone'].includes(textIn(status, 'reason') ?? '');
  const words = clean(textIn(status, 'message') ?? textIn(status, 'reason') ?? 'no message');
  const kind = isExpired ? 'gone' : kindOfStatus(code);
  return new KubernetesError(kind, `${doing}: error event ${code}: ${words}`, { status: code });
}
