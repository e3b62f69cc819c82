import type { RangeSeries } from '../../prometheus/answers/classify.js';
import type { RangeQuery } from '../../prometheus/client/range-client.js';
import { type Scaler, scalerKey } from '../../scaler/spec.js';
import type { LongRange } from '../../server/pages/long-range.js';
import { type Instant, addSeconds, formatInstant, instantFromMs } from '../../units/time.js';
import { historyQueries } from './history-queries.js';

const POINTS = 100;

/**
 * Returns a query of the counts after the last point of a range without points. The last point is a whole multiple of the
 * step, so series that are younger than a step may all be after it.
 */
export function youngQuery(scaler: Scaler, { end, stepSeconds }: LongRange, now: Instant): RangeQuery {
  const fine = Math.ceil(stepSeconds / POINTS);
  const { counts } = historyQueries(scaler, fine);
  return { query: counts, start: end, end: now > end ? now : addSeconds(end, fine), stepSeconds: fine };
}

/** Says why a range has no points; `young`: the answer to `youngQuery`. */
export function explainEmptiness(
  scaler: Scaler,
  { end, stepSeconds }: LongRange,
  young: readonly RangeSeries[],
): string {
  const key = scalerKey(scaler);
  const first = Math.min(...young.flatMap(({ points }) => points.map(([atMs]) => atMs)));
  if (first === Infinity)
    return `the data source \`default\` has no series of ${key} in this range: let it scrape /metrics of promscaler with honorLabels: true`;
  return `the series of ${key} in the data source \`default\` begin at ${formatInstant(instantFromMs(first))}, after the last point of this range, ${formatInstant(end)}: with a step of ${stepSeconds} s the next point is at ${formatInstant(addSeconds(end, stepSeconds))}. Choose a shorter range`;
}
