import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { resolveServiceConfig } from '../../src/config/resolve-service-config.js';
import { resourceQuery } from '../../src/prometheus/data-source/resource-queries.js';
import { type FilledServer, startFilled } from '../support/filled-server.js';
import type { WrittenSeries } from '../support/remote-write.js';
import { askAt } from '../support/victoria-metrics.js';

/** Downloading the programs on a fresh machine counts toward the first test. */
const START_MS = 240_000;
const SCRAPE_SECONDS = 15;
/** The start of the series in seconds before the last scrape, well before the window of 120 s. */
const FIRST_SECONDS = 1200;

/** One run of a container: start and end in seconds before the last scrape, and its constant usage in cores. */
interface Run {
  readonly from: number;
  readonly to: number;
  readonly cores: number;
  /** False: the series has no stale marker, like the series of cAdvisor with explicit timestamps. */
  readonly hasEnd?: boolean;
  readonly labels?: Readonly<Record<string, string>>;
}

const EVER = 10_000;
const STILL = -1;

const PODS: Readonly<Record<string, readonly Run[]>> = {
  steady: [{ from: EVER, to: STILL, cores: 0.8 }],
  'restarted-once': [
    { from: EVER, to: 70, cores: 0.8 },
    { from: 68, to: STILL, cores: 0.8 },
  ],
  'restarted-twice': [
    { from: EVER, to: 85, cores: 0.8 },
    { from: 83, to: 45, cores: 0.8 },
    { from: 43, to: STILL, cores: 0.8 },
  ],
  'restarted-just-now': [
    { from: EVER, to: 14, cores: 0.8 },
    { from: 12, to: STILL, cores: 0.8 },
  ],
  'restarted-without-end': [
    { from: EVER, to: 70, cores: 0.8, hasEnd: false },
    { from: 68, to: STILL, cores: 0.8 },
  ],
  'restarted-and-calm': [
    { from: EVER, to: 70, cores: 0.8 },
    { from: 68, to: STILL, cores: 0.1 },
  ],
  young: [{ from: 70, to: STILL, cores: 0.8 }],
  'just-born': [{ from: 10, to: STILL, cores: 0.8 }],
  gone: [{ from: EVER, to: 50, cores: 0.8 }],
  'scraped-twice': ['kubelet', 'cadvisor'].map((job) => ({
    from: EVER,
    to: STILL,
    cores: 0.8,
    labels: { job },
  })),
  'by-cpu': ['cpu00', 'cpu01'].map((cpu) => ({ from: EVER, to: STILL, cores: 0.4, labels: { cpu } })),
};

function seriesOf(pod: string, run: Run, now: number, id: number): WrittenSeries {
  const samples: [number, number | null][] = [];
  for (let age = FIRST_SECONDS; age >= 0; age -= SCRAPE_SECONDS) {
    if (age > run.from) continue;
    if (age < run.to) {
      if (run.hasEnd !== false) samples.push([now - age, null]);
      break;
    }
    samples.push([now - age, (run.from - age) * run.cores]);
  }
  const instance = run.labels === undefined ? id : 0;
  const labels = {
    namespace: 'shop',
    pod,
    container: 'app',
    cpu: 'total',
    id: `/${instance}`,
    name: `k8s_${instance}`,
  };
  return { labels: { __name__: 'container_cpu_usage_seconds_total', ...labels, ...run.labels }, samples };
}

function cpuQueryOf(flavor: 'prometheus' | 'victoriametrics'): string {
  const source = resolveServiceConfig({ prometheus: { default: { flavor } } }, null).prometheus['default'];
  return source === undefined ? '' : (resourceQuery(source, 'cpu', ['shop']) ?? '');
}

describe('the default cpu query', () => {
  const now = Math.floor(Date.now() / 1000);
  let victoria: FilledServer;
  let prometheus: FilledServer;

  beforeAll(async () => {
    const series = Object.entries(PODS).flatMap(([pod, runs]) =>
      runs.map((run, index) => seriesOf(pod, run, now, index)),
    );
    victoria = await startFilled('VictoriaMetrics', series);
    prometheus = await startFilled('Prometheus', series);
  }, START_MS);

  afterAll(async () => {
    await Promise.all([victoria.stop(), prometheus.stop()]);
  });

  async function coresOn(
    url: string,
    query: string,
    secondsLater = 0,
  ): Promise<Record<string, number | null>> {
    const found = await askAt(url, query, now + secondsLater);
    return Object.fromEntries(
      Object.keys(PODS).map((pod) => {
        const value = found[`container=app,namespace=shop,pod=${pod}`];
        return [pod, value === undefined ? null : Math.round(value * 1000) / 1000];
      }),
    );
  }

  it.each([0, 1, 7, 14])(
    'of VictoriaMetrics is correct or without a value, %i s after a scrape',
    async (later) => {
      await expect(coresOn(victoria.url, cpuQueryOf('victoriametrics'), later)).resolves.toEqual({
        steady: 0.8,
        'restarted-once': 0.8,
        'restarted-twice': 0.8,
        'restarted-just-now': null,
        'restarted-without-end': 0.8,
        'restarted-and-calm': 0.1,
        young: 0.8,
        'just-born': null,
        gone: null,
        'scraped-twice': 0.8,
        'by-cpu': 0.8,
      });
    },
  );

  it('of Prometheus counts a restart two and three times on VictoriaMetrics, which therefore has its own query', async () => {
    const cores = await coresOn(victoria.url, cpuQueryOf('prometheus'));

    expect(cores).toMatchObject({ steady: 0.8, 'restarted-once': 1.6, 'scraped-twice': 1.6, gone: 0.8 });
    expect(cores['restarted-twice']).toBeCloseTo(2.4, 2);
  });

  it('of Prometheus counts a restart with an error of at most 10 % on Prometheus', async () => {
    const cores = await coresOn(prometheus.url, cpuQueryOf('prometheus'));

    expect(cores['steady']).toBeCloseTo(0.8, 6);
    for (const pod of ['restarted-once', 'restarted-twice', 'restarted-without-end', 'young'])
      expect([pod, (cores[pod] ?? 0) <= 1.1 * 0.8]).toEqual([pod, true]);
    expect(cores['by-cpu']).toBeCloseTo(0.8, 6);
  });
});
