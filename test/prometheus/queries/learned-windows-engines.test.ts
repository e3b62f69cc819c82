import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer } from '../../../src/prometheus/answers/answer.js';
import { createPrometheusClient } from '../../../src/prometheus/client/client.js';
import { resourceQuery } from '../../../src/prometheus/data-source/resource-queries.js';
import { learnWindow } from '../../../src/prometheus/queries/learned-windows.js';
import { toSamples } from '../../../src/prometheus/samples.js';
import { instantFromSeconds } from '../../../src/units/time.js';
import { aPod, aSource, cpuMetric } from '../../support/builders.js';
import { type FilledServer, type ServerName, startFilled } from '../../support/filled-server.js';
import type { WrittenSeries } from '../../support/remote-write.js';
import { realClock } from '../fakes.js';
import { due } from '../round-fixture.js';

/* Real servers with the samples of ten minutes, and the windows that follow from their times. */

/** Downloading the programs on a fresh machine counts toward the first test. */
const START_MS = 240_000;
const NOW_SECONDS = Date.now() / 1000;
const USED_CORES = 0.5;

/** Returns the ages of samples in seconds, oldest first. */
function every(seconds: number): readonly number[] {
  return Array.from({ length: Math.floor(600 / seconds) }, (_, index) => index * seconds + 1).reverse();
}

/** As the kubelet measures: about every 12 s, each container at different times, scraped every 10 s. */
function housekept(pod: number): readonly number[] {
  return Array.from({ length: 50 }, (_, index) => 2 + index * 12 + ((index * 7 + pod * 3) % 4)).reverse();
}

const NAMESPACES: Readonly<Record<string, readonly [(pod: number) => readonly number[], window: number]>> = {
  'every-1': [() => every(1), 20],
  'every-5': [() => every(5), 20],
  'every-10': [() => every(10), 40],
  'every-15': [() => every(15), 60],
  'every-30': [() => every(30), 120],
  'every-60': [() => every(60), 240],
  // One of ten scrapes fails: four of the samples that there are take longer.
  'failing-15': [(pod) => every(15).filter((_, index) => index % 10 !== pod), 80],
  kubelet: [housekept, 60],
};

describe.each(['Prometheus', 'VictoriaMetrics'] satisfies readonly ServerName[])(
  'windows on %s',
  (engine) => {
    let server: FilledServer;

    beforeAll(async () => {
      server = await startFilled(engine, Object.entries(NAMESPACES).flatMap(seriesOf));
    }, START_MS);

    afterAll(() => server.stop());

    it.each(Object.entries(NAMESPACES))('follow the samples of %s', async (namespace, [, window]) => {
      const source = aSource({
        urls: [server.url],
        flavor: engine === 'Prometheus' ? 'prometheus' : 'victoriametrics',
        ifVictoriaMetrics: null,
        resourceQueries: {
          cpu: 'sum by (namespace, pod, container) (rate(cpu_total{namespace=~"$namespaces"}[$window]))',
        },
        learnedIntervalSeconds: null,
      });
      const client = createPrometheusClient(source, realClock);
      const ask = (query: string): Promise<Answer> =>
        client.query(query, { timeoutMs: 10_000, signal: new AbortController().signal });
      const scaler = due([cpuMetric], namespace);

      const learned = await learnWindow(source, [scaler], ask);

      const answer = await ask(resourceQuery(learned, 'cpu', [namespace]) ?? '');
      const [sample] = toSamples(scaler, [answer], {
        pods: [aPod('web-6d4cf5-aaaa0'), aPod('web-6d4cf5-aaaa1')],
        now: instantFromSeconds(NOW_SECONDS),
        sources: new Map([['default', learned]]),
      });
      expect(sample).toMatchObject({ form: 'containers', windowSeconds: window });
      const values = sample?.form === 'containers' ? sample.values : [];
      expect(values.length).toBe(2);
      // The test may run some seconds after the newest sample, which makes a rate too low.
      for (const value of values) expect(Math.abs(value - USED_CORES)).toBeLessThan(0.25);
    });
  },
);

function seriesOf([namespace, [agesOf]]: [
  string,
  readonly [(pod: number) => readonly number[], number],
]): readonly WrittenSeries[] {
  return [0, 1].map((index) => ({
    labels: {
      __name__: 'cpu_total',
      job: namespace,
      instance: `10.0.0.${index}:10250`,
      namespace,
      pod: `web-6d4cf5-aaaa${index}`,
      container: 'app',
    },
    samples: agesOf(index).map((age) => [NOW_SECONDS - age, 1000 - USED_CORES * age] as const),
  }));
}
