import { resourceQuery, takesWindow } from '../../../prometheus/resource-queries.js';
import { vectorSelectors } from '../../../promql/vector-selectors.js';
import { type Finding, findingsOf } from '../finding.js';
import { type SourceInquiry, sourceSubject } from '../inquiry.js';
import { readScrapeTimes, scrapeIntervalOf, scrapesWithin } from '../scrape-times.js';
import { neededResources } from './needed-resources.js';

/** Over so long the interval is measured; over the longer one where the first holds a single scrape. */
const MEASURE_SECONDS = [900, 7200];
/** A rate needs two samples. */
const LEAST_SCRAPES = 2;
/** With fewer, one scrape that fails leaves a hole. */
const WANTED_SCRAPES = 4;

/** Whether the window of the resource queries holds enough scrapes. */
export async function checkScrapeInterval(inquiry: SourceInquiry): Promise<readonly Finding[]> {
  const { source } = inquiry;
  const make = findingsOf('scrape-interval', sourceSubject(source));
  const needed = neededResources(inquiry).find(({ resource }) => takesWindow(source, resource));
  if (needed === undefined) return [make.skipped('no document asks it for a resource that is a rate')];
  const query = resourceQuery(source, needed.resource, needed.namespaces) ?? '';
  const selector = vectorSelectors(query).find(({ range }) => range !== null);
  if (selector === undefined) return [make.skipped('its resource query holds no selector with a range')];
  let times: readonly number[] | null = [];
  for (const seconds of MEASURE_SECONDS) {
    times = await readScrapeTimes(inquiry, selector, Math.max(seconds, 2 * source.resourceWindowSeconds));
    if (times === null || times.length > 1) break;
  }
  if (times === null) return [make.skipped('the times of its scrapes cannot be read')];
  if (times.length === 0) return [make.skipped(`there are no series of ${needed.resource}`)];
  const exactSeconds = scrapeIntervalOf(times);
  if (exactSeconds === null)
    return [make.skipped(`only one scrape of ${needed.resource} has been seen, which tells no interval`)];
  const intervalSeconds = roundInterval(exactSeconds);
  const inWindow = scrapesWithin(times, source.resourceWindowSeconds, intervalSeconds);
  return [judgeScrapes(make, source, { inWindow, interval: intervalSeconds })];
}

/** Judges how many scrapes are in the window, and says which settings fit the interval. Pure. */
function judgeScrapes(
  make: ReturnType<typeof findingsOf>,
  source: {
    readonly name: string;
    readonly resourceWindowSeconds: number;
    readonly scrapeIntervalSeconds: number;
  },
  { inWindow, interval }: { readonly inWindow: number; readonly interval: number },
): Finding {
  const key = `prometheus.${source.name}`;
  const mend =
    `${key}: { scrapeIntervalSeconds: ${interval}, resourceWindowSeconds: ${Math.max(120, WANTED_SCRAPES * interval)} }, ` +
    'or let Prometheus scrape the kubelets more often (scrape_interval: 30s)';
  const words = `the containers are scraped about every ${interval} s, so the window of ${source.resourceWindowSeconds} s holds ${inWindow} ${inWindow === 1 ? 'sample' : 'samples'}`;
  if (inWindow < LEAST_SCRAPES) return make.failed(`${words}, and a rate needs ${LEAST_SCRAPES}`, mend);
  if (inWindow < WANTED_SCRAPES)
    return make.warning(
      `${words}; ${WANTED_SCRAPES} are wanted, so that one that fails leaves no hole`,
      mend,
    );
  return make.ok(`scraped every ${interval} s`);
}

/** What people write into a scrape config, in seconds. */
const USUAL_SECONDS = [1, 2, 5, 10, 15, 20, 30, 60, 90, 120, 180, 240, 300, 600];

/** Scrapes come a little early or late: the usual interval within a twentieth is meant. */
function roundInterval(seconds: number): number {
  const usual = USUAL_SECONDS.find((one) => Math.abs(one - seconds) <= seconds / 20);
  return usual ?? Math.max(1, Math.round(seconds));
}
