import { asObject, parseObject } from '../../prometheus/answers/classify.js';
import { stringLiteral } from '../../promql/quoting.js';
import { REQUEST_MS, type SourceContext } from './context.js';
import { withoutTrailingSlashes } from '../../units/base-url.js';

interface Selector {
  readonly text: string;
  readonly metric: string | null;
}

/**
 * Returns the timestamps of samples in seconds, from the matching series with the most samples in the last `seconds`;
 * null if they cannot be read. The number of samples alone is insufficient: it does not show the interval of a series
 * that is younger than the range.
 */
export async function readScrapeTimes(
  context: SourceContext,
  { text, metric }: Selector,
  seconds: number,
): Promise<readonly number[] | null> {
  const { runQuery, source, probe, signal } = context;
  const most = await runQuery(`topk(1, count_over_time(${text}[${seconds}s]))`);
  if (most.class === 'missing') return [];
  if (metric === null || (most.class !== 'value' && most.class !== 'partial')) return null;
  const matchers = Object.entries(most.series[0]?.labels ?? {})
    .filter(([label]) => label !== '__name__')
    .map(([label, value]) => `${label}=${stringLiteral(value)}`);
  const query = `${metric}{${matchers.join(', ')}}[${seconds}s]`;
  for (const url of source.urls) {
    const page = await probe({
      url: `${withoutTrailingSlashes(url)}/api/v1/query`,
      parameters: { query, nocache: '1' },
      timeoutMs: REQUEST_MS,
      signal,
    });
    const times = page.kind === 'answered' ? timesOf(page.body) : null;
    if (times !== null) return times;
  }
  return null;
}

/** Returns the median interval in seconds; null for fewer than two scrapes. */
export function scrapeIntervalOf(times: readonly number[]): number | null {
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? time));
  return gaps.sort((one, other) => one - other)[Math.floor(gaps.length / 2)] ?? null;
}

/** Returns how many scrapes a range contains when the series is as old as the range. */
export function scrapesWithin(
  times: readonly number[],
  rangeSeconds: number,
  intervalSeconds: number,
): number {
  const last = times.at(-1) ?? 0;
  const isOldEnough = (times[0] ?? last) <= last - rangeSeconds;
  return isOldEnough
    ? times.filter((time) => time > last - rangeSeconds).length
    : Math.floor(rangeSeconds / intervalSeconds);
}

function timesOf(body: string): readonly number[] | null {
  const result = asObject(parseObject(body)?.['data'])?.['result'];
  const [first] = Array.isArray(result) ? (result as readonly unknown[]) : [];
  const values = asObject(first)?.['values'];
  if (!Array.isArray(values)) return null;
  return values.map((pair: unknown) => (Array.isArray(pair) ? Number(pair[0]) : NaN)).filter(Number.isFinite);
}
