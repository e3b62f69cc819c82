/**
 * A query of the service for the age of samples, with the selector that it is about, and the labels that the answer
 * has. Times in seconds; `offsetSeconds` is before the evaluation.
 */
export type AgeQuery =
  /** The time between the samples, by job. */
  | ({ readonly kind: 'interval'; readonly rangeSeconds: number } & OfSelector)
  /** The time of the newest sample of each target, and with the label `mark` that at the start of the range, if it is set. */
  | ({ readonly kind: 'newest'; readonly start: Start | null } & OfSelector)
  /** The targets whose scrapes fail, or failed within the range; 0: now. */
  | { readonly kind: 'failing'; readonly rangeSeconds: number }
  /** The targets that had samples within the range. */
  | ({ readonly kind: 'seen'; readonly rangeSeconds: number; readonly stepSeconds: number } & OfSelector)
  /** The number of samples within the range. */
  | ({ readonly kind: 'samples'; readonly rangeSeconds: number } & OfSelector);

interface OfSelector {
  readonly selector: string;
  readonly labels: readonly string[];
  readonly offsetSeconds: number;
}

interface Start {
  readonly offsetSeconds: number;
  readonly mark: string;
}

const OFFSET = String.raw`(?: offset (-?\d+)ms)?`;
const BY = String.raw`max by \(([^)]*)\)`;
const INTERVAL = new RegExp(
  String.raw`^quantile by \(job\) \(0\.5, \(max_over_time\(${BY} \(timestamp\((.+?)${OFFSET}\)\)\[(\d+)ms:\d+s\]\) - min_over_time\(`,
);
const NEWEST = new RegExp(String.raw`^${BY} \(timestamp\((.+?)${OFFSET}\)\)$`);
const ENDS = /^(.+) or label_replace\((.+), "(\w+)", "1", "", ""\)$/;
const FAILING = /^min by \(job, instance\) \((?:up|min_over_time\(up\[(\d+)ms\]\) and up)\) == 0$/;
const SEEN = new RegExp(String.raw`^${BY} \(max_over_time\(timestamp\((.+)\)\[(\d+)s:(\d+)s\]${OFFSET}\)\)$`);
const SAMPLES = new RegExp(String.raw`^${BY} \(count_over_time\((.+)\[(\d+)ms\]${OFFSET}\)\)$`);

/**
 * Returns what a query for the age of samples is about; null: it is another query. Source:
 * src/prometheus/target-ages.ts.
 */
export function readAgeQuery(query: string): AgeQuery | null {
  const failing = FAILING.exec(query);
  if (failing !== null) return { kind: 'failing', rangeSeconds: seconds(failing[1]) };
  const interval = INTERVAL.exec(query);
  if (interval !== null)
    return { kind: 'interval', ...about(interval, interval[3]), rangeSeconds: seconds(interval[4]) };
  const seen = SEEN.exec(query);
  if (seen !== null) {
    const [rangeSeconds, stepSeconds] = [Number(seen[3]), Number(seen[4])];
    return { kind: 'seen', ...about(seen, seen[5]), rangeSeconds, stepSeconds };
  }
  const samples = SAMPLES.exec(query);
  if (samples !== null)
    return { kind: 'samples', ...about(samples, samples[4]), rangeSeconds: seconds(samples[3]) };
  const [, end = query, beginning = '', mark = ''] = ENDS.exec(query) ?? [];
  const newest = NEWEST.exec(end);
  if (newest === null) return null;
  const start = NEWEST.exec(beginning);
  return {
    kind: 'newest',
    ...about(newest, newest[3]),
    start: start === null ? null : { offsetSeconds: seconds(start[3]), mark },
  };
}

function about([, labels = '', selector = '']: RegExpExecArray, offset: string | undefined): OfSelector {
  return { selector, labels: labels.split(', '), offsetSeconds: seconds(offset) };
}

function seconds(milliseconds: string | undefined): number {
  return Number(milliseconds ?? 0) / 1000;
}
