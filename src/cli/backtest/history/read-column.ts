import { type Column, columnOf } from '../../../backtest/history/matrix-to-load.js';
import type { HistoryQuery } from '../../../backtest/history/plan-queries.js';
import { addSeconds, instantFromMs } from '../../../units/time.js';
import { type Fetching, fetchSeries, type Range } from './fetch-series.js';

/**
 * Reads the sum of the series of a query. Queries the warm-up separately, so a document with a shorter warm-up finds
 * the rest in the cache and in a saved history. Throws the same errors as `fetchSeries`.
 */
export async function readColumn(
  what: string,
  query: HistoryQuery,
  range: Range,
  fetching: Fetching,
): Promise<Column> {
  const { start, end, stepSeconds } = aligned(range);
  const begin = addSeconds(start, -range.warmUpSeconds);
  const before = { ...range, start: begin, end: addSeconds(start, -stepSeconds) };
  const [warmUp, rest] = await Promise.all([
    range.warmUpSeconds === 0 ? [] : fetchSeries(what, query, before, fetching),
    fetchSeries(what, query, range, fetching),
  ]);
  return columnOf([...warmUp, ...rest], { start: begin, end, stepSeconds });
}

/** Returns the part of a column that is scored. */
export function withoutWarmUp({ start, stepSeconds, values }: Column, { warmUpSeconds }: Range): Column {
  const steps = warmUpSeconds / stepSeconds;
  return { start: addSeconds(start, warmUpSeconds), stepSeconds, values: values.subarray(steps) };
}

/** The points of a range query are multiples of the step: see `chunksOf`. */
export function aligned({ start, end, stepSeconds }: Range): Omit<Range, 'warmUpSeconds'> {
  const stepMs = stepSeconds * 1000;
  return { start: instantFromMs(Math.ceil(start / stepMs) * stepMs), end, stepSeconds };
}
