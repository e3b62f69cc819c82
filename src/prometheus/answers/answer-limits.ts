import { ANSWER_DEFAULTS } from '../../units/answer-defaults.js';
import type { JsonBounds } from '../../units/json-bounds.js';
import type { SourceConfig } from '../data-source/source-config.js';

/** The largest answers that are read. A hostile or careless query must not exhaust the memory. */
export interface AnswerLimits {
  /** Of one answer, after decompression. */
  readonly answerBytes: number;
  /** Of all answers being received from one data source. */
  readonly unreadBytes: number;
  readonly series: number;
  readonly json: JsonBounds;
}

const MIB = 1024 * 1024;

/** Answers of this many times `maxAnswerBytes` may arrive at the same time. */
const ANSWERS_AT_ONCE = 3;

/** A series with 20 labels. An answer has 5 levels. */
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

/** Returns `16 MiB`, or bytes if that would not be a whole number. */
export function sayBytes(bytes: number): string {
  return bytes % MIB === 0 ? `${bytes / MIB} MiB` : `${bytes} bytes`;
}
