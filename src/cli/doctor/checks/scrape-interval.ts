import { resourceQuery, resourceWindowSeconds } from '../../../prometheus/resource-queries.js';
import { vectorSelectors } from '../../../promql/vector-selectors.js';
import { secondsBetween } from '../../../units/time.js';
import { type Finding, findingsOf } from '../finding.js';
import { onlyValue, type SourceInquiry, sourceSubject } from '../inquiry.js';
import { neededResources } from './needed-resources.js';

/** Over so long the interval is measured. */
const MEASURE_SECONDS = 900;
/** A rate needs two samples. */
const LEAST_SCRAPES = 2;
/** With fewer, one scrape that fails leaves a hole. */
const WANTED_SCRAPES = 4;

/** Whether the window of the resource queries holds enough scrapes. */
export async function checkScrapeInterval(inquiry: SourceInquiry): Promise<readonly Finding[]> {
  const { source, ask } = inquiry;
  const make = findingsOf('scrape-interval', sourceSubject(source));
  const needed = neededResources(inquiry).find(({ resource }) => resourceWindowSeconds(source, resource) > 0);
  if (needed === undefined) return [make.skipped('no document asks it for a resource that is a rate')];
  const query = resourceQuery(source, needed.resource, needed.namespaces) ?? '';
  const selector = vectorSelectors(query).find(({ range }) => range !== null)?.text;
  if (selector === undefined) return [make.skipped('its resource query holds no selector with a range')];
  const longSeconds = Math.max(MEASURE_SECONDS, source.resourceWindowSeconds);
  const [inWindow, inLong, runningSeconds] = await Promise.all([
    ask(`max(count_over_time(${selector}[${source.resourceWindowSeconds}s]))`).then(onlyValue),
    ask(`max(count_over_time(${selector}[${longSeconds}s]))`).then(onlyValue),
    secondsRunning(inquiry),
  ]);
  if (inLong === null) return [make.skipped(`there are no series of ${needed.resource}`)];
  const seen = inWindow ?? 0;
  const isYoung = runningSeconds !== null && runningSeconds < 2 * source.resourceWindowSeconds;
  if (isYoung && seen < WANTED_SCRAPES)
    return [
      make.skipped(
        `Prometheus began ${Math.round(runningSeconds)} s ago, too short a time to tell for a window of ${source.resourceWindowSeconds} s`,
      ),
    ];
  const spanSeconds = Math.min(longSeconds, runningSeconds ?? longSeconds);
  return [judgeScrapes(make, source, { inWindow: seen, intervalSeconds: spanSeconds / inLong })];
}

async function secondsRunning({ startTime, clock }: SourceInquiry): Promise<number | null> {
  const start = await startTime();
  return start === null ? null : secondsBetween(start, clock.now());
}

/** Judges how many scrapes are in the window, and says which settings fit the interval. Pure. */
function judgeScrapes(
  make: ReturnType<typeof findingsOf>,
  source: {
    readonly name: string;
    readonly resourceWindowSeconds: number;
    readonly scrapeIntervalSeconds: number;
  },
  { inWindow, intervalSeconds }: { readonly inWindow: number; readonly intervalSeconds: number },
): Finding {
  const interval = roundInterval(intervalSeconds);
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

/** Counting samples in 900 s is off by one: the usual interval within a fifth is meant. */
function roundInterval(seconds: number): number {
  const usual = USUAL_SECONDS.find((one) => Math.abs(one - seconds) <= seconds / 5);
  return usual ?? Math.max(1, Math.round(seconds));
}
