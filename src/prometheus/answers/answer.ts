import type { Instant } from '../../units/time.js';

/** One element of an instant vector. The value may be NaN or infinite; samples.ts decides whether it is usable. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Why a query failed; the `reason` of `promscaler_query_errors_total`. */
export const FAILURE_REASONS = [
  'timeout',
  'connection',
  'bad_query',
  'execution',
  'unauthorized',
  'rate_limited',
  'too_large',
  'server_error',
  'bad_answer',
  'canceled',
] as const;

export type FailureReason = (typeof FAILURE_REASONS)[number];

/** The result of an instant query, by class. A query never throws: a failure is an answer, and absence is never 0. */
export type Answer =
  | { readonly class: 'value'; readonly series: readonly Series[]; readonly evaluatedAt: Instant }
  | {
      readonly class: 'partial';
      readonly series: readonly Series[];
      readonly evaluatedAt: Instant;
      readonly why: string;
    }
  | { readonly class: 'missing'; readonly message: string }
  /** Neither an instant vector nor a scalar, or a value that is not a number. */
  | { readonly class: 'invalid'; readonly message: string }
  /** An error, or no answer from the source. */
  | { readonly class: 'failed'; readonly reason: FailureReason; readonly message: string };
