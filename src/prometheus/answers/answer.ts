import type { Instant } from '../../units/time.js';
import type { Series } from './series.js';
import type { SeriesColumns } from './series-columns.js';

/** Why a query failed; the `reason` of `promscaler_query_errors_total`. */
export const FAILURE_REASONS = [
  'timeout',
  /** The source is overloaded. Says nothing about the query. */
  'busy',
  'connection',
  'bad_query',
  'execution',
  'unauthorized',
  'rate_limited',
  'too_large',
  'server_error',
  'bad_answer',
  'canceled',
  /** Not sent: the namespace exceeds a limit of the data source. */
  'over_limit',
] as const;

export type FailureReason = (typeof FAILURE_REASONS)[number];

const SERVER_REASONS: ReadonlySet<FailureReason> = new Set([
  'timeout',
  'busy',
  'connection',
  'unauthorized',
  'rate_limited',
  'server_error',
  'bad_answer',
]);

/** Whether the server, not the query, causes the failure, so that another url or a later attempt may succeed. */
export function isServerFailure(reason: FailureReason): boolean {
  return SERVER_REASONS.has(reason);
}

/** Set for a data source with several urls. */
interface FromUrl {
  /** The url that answered, by its position in the config. */
  readonly urlIndex?: number | undefined;
}

interface Vector extends FromUrl {
  readonly series: readonly Series[];
  readonly evaluatedAt: Instant;
  /** The same series without an object for each; unset: only `series` has them. */
  readonly columns?: SeriesColumns | undefined;
}

/** The result of an instant query, by class. A query never throws: a failure is an answer, and absence is never 0. */
export type Answer =
  | (Vector & { readonly class: 'value' })
  | (Vector & { readonly class: 'partial'; readonly why: string })
  | (FromUrl & { readonly class: 'missing'; readonly message: string })
  /** Neither an instant vector nor a scalar, or a value that is not a number. */
  | (FromUrl & { readonly class: 'invalid'; readonly message: string })
  /** An error, or no answer from the source. */
  | { readonly class: 'failed'; readonly reason: FailureReason; readonly message: string };

/** Takes the place of an answer, so that no caller waits for one. The error itself is in the log. */
export const INTERNAL_ERROR: Answer = {
  class: 'failed',
  reason: 'bad_answer',
  message: 'the query failed with an internal error',
};
