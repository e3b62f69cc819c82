import { metricChecks, metricQuery } from '../../../prometheus/scaler-queries.js';
import { largestRangeSeconds } from '../../../promql/ranges.js';
import { type VectorSelector, vectorSelectors } from '../../../promql/vector-selectors.js';
import { scalerKey } from '../../../scaler/spec.js';
import { type Finding, findingsOf } from '../finding.js';
import { onlyValue, type SourceInquiry } from '../inquiry.js';
import { readScrapeTimes, scrapeIntervalOf, scrapesWithin } from '../scrape-times.js';
import type { ScalerFacts } from '../scaler-facts.js';

const LEAST_SCRAPES = 2;
const WANTED_SCRAPES = 4;
const TAKES_A_RANGE = /\b(?:rate|irate|increase|delta|deriv|idelta)\s*\(/;

/** Whether the ranges in a document's own queries hold enough scrapes for a rate. */
export async function checkQueryWindow({ scaler, sources }: ScalerFacts): Promise<readonly Finding[]> {
  const make = findingsOf('query-window', scalerKey(scaler));
  const findings: Finding[] = [];
  for (const metric of scaler.spec.metrics) {
    if (metric.type === 'Resource' || metric.type === 'ContainerResource') continue;
    const inquiry = sources.get(metric.source);
    if (inquiry === undefined) continue;
    const { guard = null, freshness = null } = metricChecks(metric, scaler) ?? {};
    const queries = [metricQuery(metric, scaler, inquiry.source), guard, freshness?.query ?? null];
    const selectors = queries.flatMap((query) =>
      query !== null && TAKES_A_RANGE.test(query) ? vectorSelectors(query) : [],
    );
    for (const selector of selectors) {
      const { text, range } = selector;
      if (range === null) continue;
      const counted = onlyValue(await inquiry.ask(`max(count_over_time(${text}[${range}]))`));
      // Nothing in it is a matter of the check `query`, which looks for the reason.
      if (counted === null || counted >= WANTED_SCRAPES) continue;
      const count = await countOfOld(inquiry, { ...selector, range, counted });
      if (count >= WANTED_SCRAPES) continue;
      const words = `${metric.type} metric ${metric.identity}: the range [${range}] holds ${count} ${count === 1 ? 'sample' : 'samples'} of ${text}`;
      const mend = `make the range at least four scrape intervals long: [5m] instead of [${range}]`;
      findings.push(
        count < LEAST_SCRAPES
          ? make.failed(`${words}, and a rate needs ${LEAST_SCRAPES}`, mend)
          : make.warning(
              `${words}; ${WANTED_SCRAPES} are wanted, so that a scrape that fails leaves no hole`,
              mend,
            ),
      );
    }
  }
  return findings.length === 0 ? [make.ok('')] : findings;
}

/** How many samples the range will hold when the series, which may be young, are as old as the range. */
async function countOfOld(
  inquiry: SourceInquiry,
  {
    counted,
    range,
    ...selector
  }: Omit<VectorSelector, 'range'> & { readonly range: string; readonly counted: number },
): Promise<number> {
  const rangeSeconds = largestRangeSeconds(`x[${range}]`);
  const times = await readScrapeTimes(inquiry, selector, 2 * rangeSeconds);
  const intervalSeconds = times === null ? null : scrapeIntervalOf(times);
  if (times === null || intervalSeconds === null) return counted;
  return Math.max(counted, scrapesWithin(times, rangeSeconds, intervalSeconds));
}
