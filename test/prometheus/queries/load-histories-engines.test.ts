import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createMetricSource } from '../../../src/prometheus/metric-source.js';
import { addSeconds, instantFromSeconds } from '../../../src/units/time.js';
import { aSource, scalerOf } from '../../support/builders.js';
import { type FilledServer, type ServerName, startFilled } from '../../support/filled-server.js';
import { eventually } from '../../support/manual-clock.js';
import type { WrittenSeries } from '../../support/remote-write.js';
import { realClock, startRound } from '../fakes.js';

/* Real servers with the samples of five days, and the history that promscaler reads of them. */

/** Downloading the programs on a fresh machine counts toward the first test. */
const START_MS = 240_000;
const NOW_SECONDS = Math.floor(Date.now() / 1000);
const DAY_SECONDS = 86_400;
const DAYS = 5;
/** Of one pod; the other workload of the namespace uses ten times as much. */
const USED_CORES = 0.5;

/** Each day has pods of its own. */
function podsOf(day: number): readonly WrittenSeries[] {
  return ['web', 'api'].flatMap((workload) =>
    [0, 1].map((index): WrittenSeries => {
      const cores = workload === 'web' ? USED_CORES : 10 * USED_CORES;
      const start = NOW_SECONDS - day * DAY_SECONDS - 1500;
      const length = day === 0 ? 50 : 360;
      return {
        labels: {
          __name__: 'cpu_total',
          namespace: 'shop',
          pod: `${workload}-6d4cf5-aaa${day}${index}`,
          container: 'app',
        },
        samples: Array.from({ length }, (_, at) => [start + at * 30, cores * at * 30] as const),
      };
    }),
  );
}

describe.each(['Prometheus', 'VictoriaMetrics'] satisfies readonly ServerName[])(
  'a history on %s',
  (engine) => {
    let server: FilledServer;

    beforeAll(async () => {
      const days = Array.from({ length: DAYS + 1 }, (_, index) => DAYS - index);
      server = await startFilled(engine, days.flatMap(podsOf));
    }, START_MS);

    afterAll(() => server.stop());

    it('has the load of the pods of each day', async () => {
      let laterSeconds = 0;
      let answers = 0;
      const now = () => addSeconds(instantFromSeconds(NOW_SECONDS), laterSeconds);
      const source = aSource({
        urls: [server.url],
        flavor: engine === 'Prometheus' ? 'prometheus' : 'victoriametrics',
        ifVictoriaMetrics: null,
        resourceWindowSeconds: 120,
        resourceQueries: {
          cpu: 'sum by (namespace, pod, container) (rate(cpu_total{namespace=~"$namespaces"}[$window]))',
        },
      });
      const reasons: (string | null)[] = [];
      const metrics = createMetricSource({
        sources: new Map([['default', source]]),
        clock: { ...realClock, now },
        onQuery: () => undefined,
        onHistoryQuery: (_, reason) => {
          answers += 1;
          reasons.push(reason);
        },
      });
      const scaler = scalerOf({
        scaleTargetRef: { name: 'web' },
        maxReplicas: 20,
        metrics: [{ resource: { name: 'cpu', target: { averageUtilization: 60 } } }],
        forecast: { lookback: `${DAYS}d`, lead: '120s' },
      });
      metrics.setScalers([scaler]);
      const ask = async () => {
        const round = startRound(metrics, [scaler]);
        await round.of(scaler);
        return round.loadHistory(scaler, { now: now(), podStartSeconds: null });
      };
      await ask();
      await eventually(() => answers > DAYS, 'the answers');
      laterSeconds = 61;

      const history = await ask();
      expect(reasons.every((reason) => reason === null)).toBe(true);
      expect(history).toMatchObject({ leadSeconds: 120, unusable: null });
      expect(history?.seasons).toHaveLength(DAYS);
      for (const { load, level } of history?.seasons ?? []) {
        expect(Math.abs(load - 2 * USED_CORES)).toBeLessThan(0.05);
        expect(Math.abs(level - 2 * USED_CORES)).toBeLessThan(0.05);
      }
      expect(Math.abs((history?.highest ?? 0) - 2 * USED_CORES)).toBeLessThan(0.05);
    });
  },
);
