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

/**
 * Why a query has no result, as its socket or its server reports it. Query report, log line, sample and the pages of
 * the API keep the reason, next to the name of the data source.
 */
export interface Failure {
  readonly reason: FailureReason;
  /** Contains no secrets. */
  readonly message: string;
}

/** Returns the `code` of an error, such as that of Node.js or axios; undefined: it has none. */
export function errorCode(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
