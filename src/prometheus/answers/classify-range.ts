import type { FailureReason } from './answer.js';
import { DEFAULT_LIMITS } from './answer-limits.js';
import { type HttpAnswer, readAnswerData, readLabels } from './classify-answer.js';
import { parseSampleValue } from './sample-value.js';

/** One series of a range query. Values may be NaN or infinite. */
export interface RangeSeries {
  readonly labels: Readonly<Record<string, string>>;
  /** Unix time in milliseconds and value, ascending. */
  readonly points: readonly (readonly [atMs: number, value: number])[];
}

/** The result of a range query. Without data, `series` is empty. */
export type RangeAnswer =
  | { readonly class: 'matrix'; readonly series: readonly RangeSeries[] }
  | { readonly class: 'failed'; readonly reason: FailureReason; readonly message: string };

/** Classifies the answer to a range query. An answer that may lack data is a failure, because a gap would look like it. */
export function classifyRange(http: HttpAnswer): RangeAnswer {
  const read = readAnswerData(http);
  if ('class' in read) return read;
  const { data, why } = read;
  if (why !== null) return failed('server_error', `the answer is partial: ${why}`);
  const { resultType, result } = data;
  if (resultType !== 'matrix' || !Array.isArray(result))
    return failed('bad_answer', 'the answer to a range query is not a matrix');
  if (result.length > DEFAULT_LIMITS.series)
    return failed('too_large', `the answer has ${result.length} series, more than ${DEFAULT_LIMITS.series}`);
  const series: RangeSeries[] = [];
  for (const element of result as readonly unknown[]) {
    const one = readSeries(element);
    if (typeof one === 'string') return failed('bad_answer', one);
    series.push(one);
  }
  return { class: 'matrix', series };
}

function readSeries(element: unknown): RangeSeries | string {
  if (typeof element !== 'object' || element === null) return 'an element of the matrix is not an object';
  const { metric, values, histograms } = element as Readonly<Record<string, unknown>>;
  const labels = readLabels(metric);
  if (labels === null) return 'an element of the matrix has no labels';
  if (values === undefined && histograms !== undefined)
    return 'the query returns native histograms, which are not numbers';
  if (!Array.isArray(values)) return 'an element of the matrix has no values';
  const points: (readonly [number, number])[] = [];
  let before = -Infinity;
  for (const pair of values as readonly unknown[]) {
    const [seconds, text] = Array.isArray(pair) ? (pair as readonly unknown[]) : [];
    const value = typeof text === 'string' ? parseSampleValue(text) : null;
    if (typeof seconds !== 'number' || !(seconds > before) || value === null)
      return 'a point of the matrix is not a time and a value in ascending order';
    before = seconds;
    points.push([Math.round(seconds * 1000), value]);
  }
  return { labels, points };
}

function failed(reason: FailureReason, message: string): RangeAnswer {
  return { class: 'failed', reason, message };
}
