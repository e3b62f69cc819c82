import { resolveServiceConfig } from '../../config/resolve-service-config.js';
import { createPrometheusClient } from '../../prometheus/client/client.js';
import { type Clock, sleep } from '../../units/clock.js';
import { RATE_SECONDS, SCRAPE_SECONDS } from './documents.js';
import { DEMO_NAMESPACE, DEMO_PODS } from './workloads.js';

/**
 * A pod counts after it was ready for a whole window of `rate`. With fewer scrapes, the first recommendations would be
 * too low, and stabilization windows would hold the scalers at the start.
 */
const SCRAPES = RATE_SECONDS / SCRAPE_SECONDS + 1;

/** Longer than the scrapes take, because a scrape may be late. */
const WINDOW = `{namespace="${DEMO_NAMESPACE}"}[${RATE_SECONDS + 5 * SCRAPE_SECONDS}s]`;

/** True if each pod has at least SCRAPES samples of CPU, requests and queue. */
const IS_SCRAPED = [
  `count(count by (pod) (count_over_time(container_cpu_usage_seconds_total${WINDOW}) >= ${SCRAPES})) >= ${DEMO_PODS}`,
  `count(count by (pod) (count_over_time(http_requests_total${WINDOW}) >= ${SCRAPES})) >= ${DEMO_PODS}`,
  `count(rabbitmq_queue_messages) >= 1`,
].join(' and ');

const PERIOD_MS = 250;
const QUERY_MS = 2000;

/** Longer than the scrapes take on any machine. The demo then starts with incomplete metrics. */
const MOST_MS = 30_000;

/** Waits until Prometheus has data for the first decisions, so no metric is missing at the start. */
export async function waitUntilScraped(
  prometheusUrl: string,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const { prometheus } = resolveServiceConfig({ prometheus: { default: { urls: [prometheusUrl] } } }, null);
  const source = prometheus['default'];
  if (source === undefined) return;
  const client = createPrometheusClient(source, clock);
  const start = clock.monotonicMs();
  while (!signal.aborted && clock.monotonicMs() - start < MOST_MS) {
    const answer = await client.query(IS_SCRAPED, { timeoutMs: QUERY_MS, signal });
    if (answer.class === 'value' && answer.series.length > 0) return;
    await sleep(clock, PERIOD_MS, signal);
  }
}
