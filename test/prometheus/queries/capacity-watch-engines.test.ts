import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createCapacityWatch, type CapacityReading } from '../../../src/prometheus/queries/capacity-watch.js';
import { createPrometheusClient } from '../../../src/prometheus/client/client.js';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import type { Scaler } from '../../../src/scaler/spec.js';
import { startFilled, type FilledServer } from '../../support/filled-server.js';
import { measureCapacity } from '../../../src/control/memory/measured-capacity.js';
import { instantFromMs } from '../../../src/units/time.js';
import { aPod, aSource, scalerOf } from '../../support/builders.js';

const auto = {
  served: { query: 'sum(rate(served_total[2m]))' },
  errors: { query: 'sum(rate(errors_total[2m]))' },
};

function scalerWith(more: object = {}, kind = 'Deployment'): Scaler {
  return scalerOf({
    scaleTargetRef: { name: 'web', kind },
    maxReplicas: 20,
    metrics: [
      {
        external: {
          metric: { name: 'rps' },
          query: 'sum(rate(received_total[2m]))',
          target: { averageValue: 8 },
          capacity: { auto },
          ...more,
        },
      },
    ],
  });
}

const STEP = 30;
const now = Math.floor(Date.now() / 1000);

describe.each(['Prometheus', 'VictoriaMetrics'] as const)('the query of capacity.auto on %s', (name) => {
  let server: FilledServer;

  beforeAll(async () => {
    // 4 pods; 2 hours of 36 per second 3 h ago, 20 before and after; errors and a backlog in the last 20 minutes, at 24.
    const seconds = Array.from({ length: (6 * 3600) / STEP }, (_, index) => now - 6 * 3600 + index * STEP);
    let [served, errors] = [0, 0];
    const all = seconds.map((second) => {
      const age = now - second;
      const isBusy = age > 3 * 3600 && age < 5 * 3600;
      const isFailing = age < 1200;
      served += STEP * (isBusy ? 36 : isFailing ? 24 : 20);
      errors += isFailing ? STEP : 0;
      return { second, served, errors, backlog: isFailing ? 900 : 0 };
    });
    const series = (of: 'served' | 'errors' | 'backlog', metric: string) => ({
      labels: { __name__: metric },
      samples: all.map((one) => [one.second, one[of]] as const),
    });
    server = await startFilled(name, [
      series('served', 'served_total'),
      series('errors', 'errors_total'),
      series('backlog', 'waiting'),
      {
        labels: { __name__: 'kube_deployment_status_replicas_ready', namespace: 'shop', deployment: 'web' },
        samples: seconds.map((second) => [second, 4] as const),
      },
      ...['bcdf4', 'bcdf5'].map((pod) => ({
        labels: { __name__: 'up', namespace: 'shop', pod: `web-${pod}`, job: 'web' },
        samples: seconds.map((second) => [second, 1] as const),
      })),
    ]);
  });
  afterAll(() => server.stop());

  async function read(scaler: Scaler): Promise<CapacityReading | null> {
    const client = createPrometheusClient(aSource({ urls: [server.url] }), SYSTEM_CLOCK);
    const faults: unknown[] = [];
    const watch = createCapacityWatch({ clock: SYSTEM_CLOCK, onFault: (error) => faults.push(error) });
    let answer: Promise<unknown> = Promise.resolve();
    watch.read([scaler], (_, text) => {
      const asked = client.query(text, { timeoutMs: 30_000 });
      answer = asked;
      return asked;
    });
    await answer;
    await Promise.resolve();
    expect(faults).toEqual([]);
    const [metric] = scaler.spec.metrics;
    return metric === undefined ? null : watch.readingOf(scaler, metric);
  }

  it('has the highest load of a ready pod without errors, and what pods served at their limit', async () => {
    const { days = [], recent, limit } = (await read(scalerWith())) ?? {};

    expect(days[0]).toBeCloseTo(9, 0);
    expect(days.slice(1)).toEqual([null, null]);
    expect(recent).toBeCloseTo(5, 0);
    expect(limit).toBeCloseTo(6, 0);
  });

  it('shows a release of 20 minutes ago, after which a pod carries 6 instead of 9, as a drift since its pods', async () => {
    const released = instantFromMs((now - 1200) * 1000);
    const reading = await read(scalerWith());
    const pods = [aPod('web-bcdf4', { startTime: released }), aPod('web-bcdf5', { startTime: released })];
    const measured = reading === null ? null : measureCapacity(undefined, reading, pods);

    expect(measured?.value).toBeCloseTo(6, 0);
    expect(measured?.drift?.before).toBeCloseTo(9, 0);
    expect(measured?.drift?.oldestPod).toBe(released);
  });

  it('knows the limit also by a backlog, and counts pods that are scraped without kube-state-metrics', async () => {
    const byBacklog = {
      capacity: { auto: { served: auto.served } },
      backlog: { query: 'sum(waiting)', drainSeconds: 60 },
    };
    const { days = [], limit } = (await read(scalerWith(byBacklog, 'ReplicaSet'))) ?? {};

    expect(limit).toBeCloseTo(12, 0);
    expect(days[0]).toBeCloseTo(18, 0);
  });

  it('has no value without series, not 0', async () => {
    const missing = { capacity: { auto: { served: { query: 'sum(rate(missing_total[2m]))' } } } };

    expect(await read(scalerWith(missing))).toBeNull();
  });
});
