import { DeadlineError } from '../../units/clock.js';

export type ApiErrorKind =
  /** A bearer token is missing or wrong. */
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  /** Another status of 4xx. */
  | 'rejected'
  /** A status of 5xx. */
  | 'unavailable'
  /** No answer. */
  | 'unreachable'
  | 'timeout'
  /** The answer is too large, or is not what the API describes. */
  | 'invalid';

/** Why a request of the API has no result. The message is a sentence for the user. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly kind: ApiErrorKind;

  constructor(kind: ApiErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** Returns an error of the kind that belongs to a status; `said` is the `error` of the answer, if it has one. */
export function errorOfStatus(status: number, said: string | null): ApiError {
  const message = said ?? `promscaler answered with status ${status}`;
  if (status === 401) return new ApiError('unauthorized', message);
  if (status === 403) return new ApiError('forbidden', message);
  if (status === 404) return new ApiError('not-found', message);
  return new ApiError(status >= 500 ? 'unavailable' : 'rejected', message);
}

/** Returns the error of a failed request: whatever `fetch` and its deadline throw has a kind. */
export function apiErrorOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof DeadlineError)
    return new ApiError('timeout', `promscaler did not answer within ${error.ms / 1000} s`);
  return new ApiError('unreachable', 'promscaler cannot be reached');
}
