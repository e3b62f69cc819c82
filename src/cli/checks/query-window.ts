import { metricChecks, metricQueryText } from '../../prometheus/queries/compile-queries.js';
import { largestRangeSeconds } from '../../promql/ranges.js';
import { type VectorSelector, vectorSelectors } from '../../promql/vector-selectors.js';
import { isOfResource } from '../../scaler/spec.js';
import { countOf } from '../../units/format.js';
import { SCRAPES_IN_WINDOW } from '../../units/bounds.js';
import { type CheckResult, onlyValue, type CheckResults, type Checked } from './check-result.js';
import type { SourceContext } from './context.js';
import { fewSamples, measureScrapes, scrapesWithin } from './scrape-interval.js';
import type { ScalerFacts } from './scaler-facts.js';

/** Minimum range in which the scrape interval is measured. For a long query range, twice that range is used. */
const MEASURE_SECONDS = 900;

const RANGE_FUNCTION = /\b(?:rate|irate|increase|delta|deriv|idelta)\s*\(/;

/** Checks that ranges in queries contain enough samples for `rate`. */
export async function checkQueryWindow({
  scaler,
  sources,
  make,
}: Checked<ScalerFacts>): Promise<CheckResults> {
  const results: CheckResult[] = [];
  for (const metric of scaler.spec.metrics) {
    if (isOfResource(metric)) continue;
    const context = sources.get(metric.source);
    if (context === undefined) continue;
    const queries = [
      metricQueryText(metric, scaler, context.source),
      ...Object.values(metricChecks(metric, scaler)?.queries ?? {}),
    ].filter((query) => query !== null);
    const selectors = queries.flatMap((query) => (RANGE_FUNCTION.test(query) ? vectorSelectors(query) : []));
    for (const selector of selectors) {
      const { text, range } = selector;
      if (range === null) continue;
      const counted = onlyValue(await context.runQuery(`max(count_over_time(${text}[${range}]))`));
      // If the range contains no samples, the check `query` reports it.
      if (counted === null || counted >= SCRAPES_IN_WINDOW) continue;
      const { count, intervalSeconds } = await countInFullRange(context, selector, { range, counted });
      if (count >= SCRAPES_IN_WINDOW) continue;
      const fact = `${metric.type} metric ${metric.identity}: the range [${range}] contains only ${countOf(count, 'sample')} of ${text}`;
      const fix = `make the range at least four scrape intervals long: [${SCRAPES_IN_WINDOW * intervalSeconds}s] instead of [${range}]`;
      results.push(fewSamples(make, count, { fact, fix }));
    }
  }
  return results.length === 0 ? make.ok('') : results;
}

/**
 * Returns how many samples the range will contain when the series are older than the range, and the scrape interval. If
 * the series are too new to measure the interval, returns the configured interval.
 */
async function countInFullRange(
  context: SourceContext,
  selector: VectorSelector,
  { range, counted }: { readonly range: string; readonly counted: number },
): Promise<{ readonly count: number; readonly intervalSeconds: number }> {
  const rangeSeconds = largestRangeSeconds(`x[${range}]`);
  const scrapes = await measureScrapes(context, selector, Math.max(2 * rangeSeconds, MEASURE_SECONDS));
  const intervalSeconds = scrapes?.intervalSeconds ?? context.source.scrapeIntervalSeconds;
  const expected =
    scrapes === null || scrapes.times.length === 0
      ? counted
      : scrapesWithin(scrapes.times, rangeSeconds, intervalSeconds);
  return { count: Math.max(counted, expected), intervalSeconds };
}
