import type { Instant } from '../units/time.js';

/** One element of an instant vector. The value may be NaN or infinite: samples.ts judges it. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Why a query can fail; the `reason` of `promscaler_query_errors_total`. */
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

/** What one instant query gave, classed (reliability: absence is never zero). A query never throws. */
export type Answer =
  | { readonly class: 'value'; readonly series: readonly Series[]; readonly evaluatedAt: Instant }
  | {
      readonly class: 'partial';
      readonly series: readonly Series[];
      readonly evaluatedAt: Instant;
      readonly why: string;
    }
  /** An empty vector. */
  | { readonly class: 'missing'; readonly message: string }
  /** Not an instant vector or scalar, or a value that is no number. */
  | { readonly class: 'invalid'; readonly message: string }
  /** The source did not answer, or not with success. */
  | { readonly class: 'failed'; readonly reason: FailureReason; readonly message: string };
