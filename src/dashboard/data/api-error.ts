import { DeadlineError } from '../../units/clock.js';

export type ApiErrorKind =
  /** The request had no bearer token, or an invalid token. */
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  /** The server answered with another 4xx status. */
  | 'rejected'
  /** The server answered with a 5xx status. */
  | 'unavailable'
  /** The server did not answer. */
  | 'unreachable'
  | 'timeout'
  /** The answer is too large, or does not have the form of the API. */
  | 'invalid';

/** Why a request to the API failed. The message is a sentence for the user. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly kind: ApiErrorKind;

  constructor(kind: ApiErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

const MAX_MESSAGE = 500;

/** Returns the error for a status other than 200, with the message in `body` if promscaler has sent one. */
export function errorOfStatus(status: number, body: string): ApiError {
  const message = messageIn(body)?.slice(0, MAX_MESSAGE) ?? `promscaler answered with status ${status}`;
  if (status === 401) return new ApiError('unauthorized', message);
  if (status === 403) return new ApiError('forbidden', message);
  if (status === 404) return new ApiError('not-found', message);
  return new ApiError(status >= 500 ? 'unavailable' : 'rejected', message);
}

function messageIn(body: string): string | null {
  const value = parseJson(body);
  if (typeof value !== 'object' || value === null || !('error' in value)) return null;
  return typeof value.error === 'string' ? value.error : null;
}

/** Returns the error for anything that `fetch` or its deadline throws. */
export function apiErrorOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof DeadlineError)
    return new ApiError('timeout', `promscaler did not answer within ${error.ms / 1000} s`);
  return new ApiError('unreachable', 'promscaler cannot be reached');
}

/** Parses JSON; undefined: the text is not JSON, or is nested too deeply for the browser. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
