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

/** A query was answered, but not with a value that the decision can use. */
export type UnusableReason =
  /** No series. */
  | 'missing'
  /** All values are NaN. */
  | 'nan'
  /** Infinite or negative values, the wrong form, or duplicates. */
  | 'invalid'
  /** A value that proposes no count, for example because the selector matches no pods. */
  | 'no_proposal';

/** `unknown`: the reason of a failed query is not known, because its snapshot does not say it. */
export type FailureReason = (typeof FAILURE_REASONS)[number] | UnusableReason | 'unknown';

/**
 * Why a metric has no value. Socket, sample, result of the metric, condition, log line, outage and API use this type, so
 * that reason and data source are kept.
 */
export interface Failure {
  readonly class: 'failed';
  readonly reason: FailureReason;
  /** The data source that has not answered a query for a sample. Unset: the query was answered, or is not for a sample. */
  readonly source?: string | undefined;
  /** Contains no secrets. */
  readonly message: string;
  /** From Node.js (`ECONNREFUSED`), or `SIGN_IN` or `CREDENTIAL_FILE`. `doctor` uses it to find the fix. */
  readonly code?: string | undefined;
}

export function failed(reason: FailureReason, message: string, code?: string): Failure {
  return code === undefined
    ? { class: 'failed', reason, message }
    : { class: 'failed', reason, message, code };
}

/** Returns the failure as conditions, Events, log lines and the API show it. */
export function describeFailure({ reason, source, message }: Failure): string {
  // A query over a limit of its namespace was not sent.
  return source === undefined || reason === 'over_limit' ? message : `Prometheus: ${message}`;
}

/** Returns whether two failures look the same to a user. Null: no failure. */
export function isSameFailure(a: Failure | null, b: Failure | null): boolean {
  return a === b || (a !== null && b !== null && describeFailure(a) === describeFailure(b));
}

export const CANCELED: Failure = failed('canceled', 'the query was canceled');

const SERVER_REASONS: ReadonlySet<FailureReason> = new Set([
  'timeout',
  'busy',
  'connection',
  'unauthorized',
  'rate_limited',
  'server_error',
  'bad_answer',
]);

/** Returns whether the server causes the failure, not the query: another url or a later attempt may succeed. */
export function isServerFailure(reason: FailureReason): boolean {
  return SERVER_REASONS.has(reason);
}

/** Returns the message of an error, or any other thrown value as a string. */
export function errorMessage(error: unknown): string {
  // Not `instanceof`: an error of Node.js may come from another realm.
  return String(typeof error === 'object' && error !== null && 'message' in error ? error.message : error);
}

/** Returns the `code` of an error, such as an error of Node.js or axios, or undefined. */
export function errorCode(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
