import { formatInstant, type Instant } from './time.js';

/** Why a query failed: the values of `reason` in `promscaler_query_errors_total`. */
export const FAILURE_REASONS = [
  'timeout',
  /** The data source is overloaded, which does not depend on the query. */
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
  /** The query was not sent, because its namespace exceeds a limit of the data source. */
  'over_limit',
] as const;

/** Why a metric has no value, as samples and the API have it. */
export const SAMPLE_FAILURE_REASONS = [
  ...FAILURE_REASONS,
  /** A defect of promscaler, which no data source can cause. `promscaler_internal_errors_total` counts it. */
  'internal_error',
] as const;

/** Why a metric proposes no count. */
export const METRIC_FAILURE_REASONS = [
  ...SAMPLE_FAILURE_REASONS,
  /** The answer has no series. */
  'missing',
  /** All values are NaN. */
  'nan',
  /** A value is infinite or negative, or the answer has the wrong form or duplicates. */
  'invalid',
  /** The value proposes no count, for example because the selector matches no pods. */
  'no_proposal',
  /** The snapshot of a failed query does not contain the reason. */
  'unknown',
] as const;

export type FailureReason = (typeof METRIC_FAILURE_REASONS)[number];

/**
 * Why a metric has no value. The failure keeps the reason and the data source until `metricFailed` and
 * `describeFailure` convert it to text for conditions, log lines, outages and the API.
 */
export interface Failure {
  readonly class: 'failed';
  readonly reason: FailureReason;
  /**
   * The data source whose query failed. Unset: no query failed, the failure is an internal error, or it does not belong
   * to a metric yet.
   */
  readonly source?: string | undefined;
  /**
   * What happened; contains no secrets. Later functions add parts: `failureAt` the host of the server;
   * `createPrometheusClient` the failures of the other URLs; `createMergedQuery` that a query of several workloads or
   * namespaces failed; `applyChecks` that the query is a guard or another check. `describeFailure` adds that it is a
   * failure of Prometheus.
   */
  readonly message: string;
  /** A code of Node.js (`ECONNREFUSED`), or `SIGN_IN` or `CREDENTIAL_FILE`. `doctor` chooses the fix by the code. */
  readonly code?: string | undefined;
  /** Host and port of the server, such as `prometheus.monitoring:9090`; unset: unknown. */
  readonly host?: string | undefined;
  /**
   * Since when the data source has answered no query at all; unset: the data source answers some queries, or has only
   * just started to fail.
   */
  readonly since?: Instant | undefined;
}

/** A query that was sent. */
export interface QueryReport {
  /** The data source. */
  readonly source: string;
  /** Seconds from sending the query to its answer, over all URLs, without the time that it waited for a slot. */
  readonly seconds: number;
  /** Null: the query was answered. */
  readonly failure: Failure | null;
  /**
   * Least difference in seconds between the clocks of server and process; negative: the server is behind; null:
   * unknown.
   */
  readonly clockAheadSeconds: number | null;
}

export function failed(reason: FailureReason, message: string, code?: string): Failure {
  return code === undefined
    ? { class: 'failed', reason, message }
    : { class: 'failed', reason, message, code };
}

/** Returns the failure with the server that it concerns. The host is added to the end of the message. */
export function failureAt(host: string, failure: Failure): Failure {
  return { ...failure, message: `${failure.message} (${host})`, host };
}

/** Returns a failure as text for conditions, Events, log lines and the API. */
export function describeFailure({ reason, source, message, since }: Failure): string {
  // A query over a limit of its namespace was never sent to Prometheus.
  if (reason === 'over_limit') return message;
  if (since !== undefined) return `Prometheus has not answered since ${formatInstant(since)}: ${message}`;
  return source === undefined ? message : `Prometheus: ${message}`;
}

/** Returns whether two failures look the same to a user. Null means no failure. */
export function isSameFailure(a: Failure | null, b: Failure | null): boolean {
  return a === b || (a !== null && b !== null && describeFailure(a) === describeFailure(b));
}

export const CANCELED: Failure = failed('canceled', 'the query was canceled');

/** The answer after an internal error, which is logged. If there were no answer, the caller would wait forever. */
export const INTERNAL_ERROR: Failure = failed(
  'internal_error',
  'an internal error of promscaler, whose log has the line "query failed: internal error"',
);

const SERVER_REASONS: ReadonlySet<FailureReason> = new Set([
  'timeout',
  'busy',
  'connection',
  'unauthorized',
  'rate_limited',
  'server_error',
  'bad_answer',
]);

/**
 * Returns whether the server is the cause of a failure, not the query. Another url or a later attempt may then succeed.
 */
export function isServerFailure(reason: FailureReason): boolean {
  return SERVER_REASONS.has(reason);
}

/** Returns the message of an error. Any other thrown value is returned as a string. */
export function errorMessage(error: unknown): string {
  // `instanceof` would be wrong, because an error of Node.js may come from another realm.
  return String(typeof error === 'object' && error !== null && 'message' in error ? error.message : error);
}

/** Returns the `code` of an error, as errors of Node.js and axios have it; undefined: it has none. */
export function errorCode(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** Codes of failures that are caused by addresses, certificates or credentials, not by a server that is down. */
const SETTING_CODES: ReadonlySet<string> = new Set([
  'ERR_INVALID_PROTOCOL',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPROTO',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_GET_ISSUER_CERT',
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SIGN_IN',
  'CREDENTIAL_FILE',
]);

/** Returns whether a request may have failed because the server is down. */
export function mayBeDown({ reason, code = '' }: Failure): boolean {
  if (reason === 'connection') return !SETTING_CODES.has(code);
  return reason === 'timeout' || reason === 'server_error';
}
