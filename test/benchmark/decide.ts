import { decide } from '../../src/decision/decide.js';
import { parseSnapshot } from '../../src/decision/snapshot/parse-snapshot.js';
import type { Snapshot } from '../../src/decision/snapshot/snapshot.js';
import { aDocument } from '../support/builders.js';
import { median, print } from './report.js';

/** Measures one decision: a cpu utilization and requests per pod, with the given pods. */
export function benchDecide(): void {
  for (const { pods, limitUs } of [
    { pods: 10, limitUs: 30 },
    { pods: 1000, limitUs: 1500 },
  ]) {
    const snapshot = snapshotOf(pods);
    const microseconds = timeOf(snapshot);
    print(`decide, ${pods} pods, 2 metrics`, `${microseconds.toFixed(1)} µs`, `at most ${limitUs} µs`);
  }
}

function timeOf(snapshot: Snapshot): number {
  const rounds = Math.ceil(20_000 / snapshot.pods.length);
  const runOnce = (): number => {
    const start = performance.now();
    for (let index = 0; index < rounds; index += 1) decide(snapshot);
    return ((performance.now() - start) * 1000) / rounds;
  };
  for (let warmup = 0; warmup < 5; warmup += 1) runOnce();
  return median(Array.from({ length: 15 }, runOnce));
}

function snapshotOf(count: number): Snapshot {
  const names = Array.from({ length: count }, (_, index) => `web-6d4cf56db6-${index}`);
  const long = '2026-01-01T00:00:00Z';
  const query = 'sum by (pod) (rate(http_requests_total{pod=~"$pods"}[1m]))';
  return parseSnapshot({
    scaler: aDocument({
      scaleTargetRef: { name: 'web' },
      maxReplicas: count * 2,
      metrics: [
        { resource: { name: 'cpu', target: { averageUtilization: 60 } } },
        { pods: { metric: { name: 'rps' }, query, target: { averageValue: 50 } } },
      ],
    }),
    now: '2026-01-01T01:00:00Z',
    target: { specReplicas: count },
    pods: names.map((name) => ({
      name,
      phase: 'Running',
      startTime: long,
      ready: true,
      readyChangedAt: long,
      requests: { app: { cpu: '500m' }, sidecar: { cpu: '100m' } },
    })),
    samples: [
      {
        at: '2026-01-01T00:59:30Z',
        windowSeconds: 120,
        containers: Object.fromEntries(
          names.map((name, index) => [name, { app: 0.3 + (index % 7) / 50, sidecar: 0.02 }]),
        ),
      },
      {
        at: '2026-01-01T01:00:00Z',
        windowSeconds: 60,
        pods: Object.fromEntries(names.map((name, index) => [name, 40 + (index % 11)])),
      },
    ],
    state: { recommendations: [] },
  });
}
