import { asObject } from '../../scaler/plain-json.js';
import { parseObject } from '../../prometheus/answers/classify.js';
import { resourceQuery, takesWindow } from '../../prometheus/data-source/resource-queries.js';
import type { SourceConfig } from '../../prometheus/data-source/source-config.js';
import { stringLiteral } from '../../promql/quoting.js';
import { vectorSelectors } from '../../promql/vector-selectors.js';
import { countOf } from '../../units/format.js';
import { SCRAPES_IN_WINDOW } from '../../units/bounds.js';
import type { CheckResult, ResultBuilder, Checked } from './check-result.js';
import type { SourceContext } from './context.js';
import { usedResources } from './resource-labels.js';
import { QUERY_PATH } from '../../prometheus/client/url-client.js';

/** Ranges in which the interval is measured. The second range is used if the first range has a single scrape. */
const MEASURE_SECONDS = [900, 7200];
/** If there are fewer samples, `rate` has no value. */
const MIN_SAMPLES = 2;
/** The interval and the window that docs/guides/tune.md recommends. */
const ADVISED_SECONDS = 15;
const ADVISED_WINDOW_SECONDS = SCRAPES_IN_WINDOW * ADVISED_SECONDS;

export async function checkScrapeInterval(context: Checked<SourceContext>): Promise<CheckResult> {
  const { source, make } = context;
  const used = usedResources(context).find(({ resource }) => takesWindow(source, resource));
  if (used === undefined)
    return make.skipped('no document uses a resource whose query has a range, such as cpu');
  const query = resourceQuery(source, used.resource, used.namespaces) ?? '';
  const selector = vectorSelectors(query).find(({ range }) => range !== null);
  if (selector === undefined) return make.skipped('the resource query has no range selector');
  let scrapes: Scrapes | null = null;
  for (const seconds of MEASURE_SECONDS) {
    scrapes = await measureScrapes(context, selector, Math.max(seconds, 2 * source.resourceWindowSeconds));
    if (scrapes === null || scrapes.times.length > 1) break;
  }
  if (scrapes === null) return make.skipped('the timestamps of the samples cannot be read');
  const { times, intervalSeconds: interval } = scrapes;
  if (times.length === 0) return make.skipped(`the data source has no ${used.resource} series`);
  if (interval === null)
    return make.skipped(`${used.resource} has a single sample, so the scrape interval is not known yet`);
  const inWindow = scrapesWithin(times, source.resourceWindowSeconds, interval);
  const fix =
    `prometheus.${source.name}: { scrapeIntervalSeconds: ${interval}, resourceWindowSeconds: ${Math.max(ADVISED_WINDOW_SECONDS, SCRAPES_IN_WINDOW * interval)} }, ` +
    `or scrape the kubelets more often (scrape_interval: ${ADVISED_SECONDS}s)`;
  const fact = `the containers are scraped about every ${interval} s, so the window of ${source.resourceWindowSeconds} s contains ${countOf(inWindow, 'sample')}`;
  if (inWindow < SCRAPES_IN_WINDOW) return fewSamples(make, inWindow, { fact, fix });
  return make.ok(`the containers are scraped every ${interval} s${adviceFor(source, interval)}`);
}

/** Returns the result for a range that contains fewer samples than `SCRAPES_IN_WINDOW`. */
export function fewSamples(
  make: ResultBuilder,
  count: number,
  { fact, fix }: { readonly fact: string; readonly fix: string },
): CheckResult {
  return count < MIN_SAMPLES
    ? make.failed(`${fact}; rate needs at least ${MIN_SAMPLES}`, fix)
    : make.warning(
        `${fact}; at least ${SCRAPES_IN_WINDOW} samples are recommended, so that a failed scrape leaves no gap`,
        fix,
      );
}

/** Returns the settings that docs/guides/tune.md recommends; empty if they are in use. */
function adviceFor(
  { resourceWindowSeconds, learnedIntervalSeconds }: SourceConfig,
  interval: number,
): string {
  const isLearned = typeof learnedIntervalSeconds === 'number';
  const settings = [
    ...(interval <= ADVISED_SECONDS ? [] : [`scrape_interval: ${ADVISED_SECONDS}s`]),
    ...(isLearned ? [] : [`resourceWindowSeconds: ${ADVISED_WINDOW_SECONDS}`]),
  ];
  const isShort = resourceWindowSeconds <= ADVISED_WINDOW_SECONDS || settings.length === 0;
  const advice = isShort ? '' : ` (with ${settings.join(' and ')}, the metrics would follow the load sooner)`;
  return `${isLearned ? `, so the window is ${resourceWindowSeconds} s` : ''}${advice}`;
}

const USUAL_SECONDS = [1, 2, 5, 10, 15, 20, 30, 60, 90, 120, 180, 240, 300, 600];

/** Rounds to a usual interval if it is within 5 %, because scrapes are slightly early or late. */
function roundInterval(seconds: number): number {
  const usual = USUAL_SECONDS.find((one) => Math.abs(one - seconds) <= seconds / 20);
  return usual ?? Math.max(1, Math.round(seconds));
}

interface Selector {
  readonly text: string;
  readonly metric: string | null;
}

/**
 * Returns the times of the samples in the last `seconds`, in seconds, of the matching series with the most samples;
 * null: they cannot be read. The number of samples is not enough, because it does not show the interval of a series
 * that is younger than the range.
 */
async function readScrapeTimes(
  context: SourceContext,
  { text, metric }: Selector,
  seconds: number,
): Promise<readonly number[] | null> {
  const { runQuery, source, probe } = context;
  const most = await runQuery(`topk(1, count_over_time(${text}[${seconds}s]))`);
  if (most.class === 'missing') return [];
  if (metric === null || !('series' in most)) return null;
  const matchers = Object.entries(most.series[0]?.labels ?? {})
    .filter(([label]) => label !== '__name__')
    .map(([label, value]) => `${label}=${stringLiteral(value)}`);
  const query = `${metric}{${matchers.join(', ')}}[${seconds}s]`;
  for (const url of source.urls) {
    const page = await probe(url, QUERY_PATH, { parameters: { query, nocache: '1' } });
    const times = page.class === 'answered' ? timesOf(page.body) : null;
    if (times !== null) return times;
  }
  return null;
}

/**
 * Reads the scrapes of the matching series in the last `seconds`. `intervalSeconds` is rounded to a usual interval;
 * null: there are fewer than two scrapes. Returns null if the timestamps cannot be read.
 */
export async function measureScrapes(
  context: SourceContext,
  selector: Selector,
  seconds: number,
): Promise<Scrapes | null> {
  const times = await readScrapeTimes(context, selector, seconds);
  if (times === null) return null;
  const exactSeconds = scrapeIntervalOf(times);
  return { times, intervalSeconds: exactSeconds === null ? null : roundInterval(exactSeconds) };
}

interface Scrapes {
  /** The times of the scrapes in seconds, ascending. */
  readonly times: readonly number[];
  readonly intervalSeconds: number | null;
}

/** Returns the median interval in seconds; null: there are fewer than two scrapes. */
function scrapeIntervalOf(times: readonly number[]): number | null {
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? time));
  return gaps.sort((one, other) => one - other)[Math.floor(gaps.length / 2)] ?? null;
}

/** Returns how many scrapes a range will contain once the series is older than the range. */
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
