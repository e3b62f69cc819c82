import type { Failure } from '../../units/failure.js';
import type { JsonBounds } from '../../units/json-bounds.js';
import type { Instant } from '../../units/time.js';
import type { SourceConfig } from '../data-source/source-config.js';
import type { Series, SeriesColumns } from './columns.js';
import { ANSWER_DEFAULTS } from '../../units/bounds.js';

interface FromUrl {
  /** The position in the config of the URL that answered. */
  readonly urlIndex?: number | undefined;
}

interface Vector extends FromUrl {
  readonly series: readonly Series[];
  readonly evaluatedAt: Instant;
  /** The same series in columns, without an object for each series; unset: the answer has only `series`. */
  readonly columns?: SeriesColumns | undefined;
  /** The sum of the answer to `backlog.query`; unset: the metric has no backlog. */
  readonly backlog?: number;
  /** The answer to `capacity.query`; unset: the metric has no such query. */
  readonly capacity?: number;
  /** The answer to `saturation.served.query`; unset: the metric has no such query. */
  readonly served?: number;
}

/**
 * The result of an instant query, by class. A failed query is an answer of the class `failed`, never an exception. A
 * missing value is never 0.
 */
export type Answer =
  | (Vector & { readonly class: 'value' })
  | (Vector & { readonly class: 'partial'; readonly why: string })
  | (FromUrl & { readonly class: 'missing'; readonly message: string })
  /** The result is neither an instant vector nor a scalar, or contains a value that is not a number. */
  | (FromUrl & { readonly class: 'invalid'; readonly message: string })
  /** The server returned an error, or no complete response arrived. */
  | Failure;

export type RunQuery = (query: string) => Promise<Answer>;

export type AnswerWithSeries = Extract<Answer, { readonly series: unknown }>;

/**
 * Returns a copy of an answer with other values for these fields. A spread would call the getter `series`, which
 * creates an object per series.
 */
export function withFields<A extends Answer, F extends object>(answer: A, fields: F): Changed<A, F> {
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(answer));
  return Object.assign(copy, fields) as Changed<A, F>;
}

/** Changes each class of answers in the union `A` separately. */
type Changed<A, F> = A extends unknown ? Omit<A, keyof F> & F : never;

/** Limits what is read of an answer, so that no server and no careless query can exhaust the memory. */
export interface AnswerLimits {
  /** The limit of one answer, after decompression. */
  readonly answerBytes: number;
  /** The limit of all answers together that one data source is sending at the same time. */
  readonly unreadBytes: number;
  readonly series: number;
  readonly json: JsonBounds;
}

const MIB = 1024 * 1024;

/** Limits the memory for answers that arrive at the same time to this many times `maxAnswerBytes`. */
const ANSWERS_AT_ONCE = 3;

/** Limits the JSON of an answer. A series usually has about 20 labels, and an answer has 5 levels of nesting. */
const ITEMS_PER_SERIES = 25;
const MOST_LEVELS = 64;

export function answerLimits({
  maxAnswerBytes = ANSWER_DEFAULTS.maxAnswerBytes,
  maxSeries = ANSWER_DEFAULTS.maxSeries,
}: Pick<SourceConfig, 'maxAnswerBytes' | 'maxSeries'>): AnswerLimits {
  return {
    answerBytes: maxAnswerBytes,
    unreadBytes: ANSWERS_AT_ONCE * maxAnswerBytes,
    series: maxSeries,
    json: { depth: MOST_LEVELS, items: ITEMS_PER_SERIES * Math.max(maxSeries, ANSWER_DEFAULTS.maxSeries) },
  };
}

export const DEFAULT_LIMITS: AnswerLimits = answerLimits({});

/** Returns for example `16 MiB`, or the number of bytes if it is not a whole number of MiB. */
export function sayBytes(bytes: number): string {
  return bytes % MIB === 0 ? `${bytes / MIB} MiB` : `${bytes} bytes`;
}
