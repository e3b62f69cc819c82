import { expect, it } from '@jest/globals';
import { cpuSnapshot, explainSnapshot, scalerDocument } from '../live-service.js';

it('explain prints the backlog of a metric, and how it adds up', async () => {
  const external = {
    metric: { name: 'jobs' },
    query: 'sum(rate(jobs[1m]))',
    target: { averageValue: 8 },
    backlog: { query: 'sum(waiting)', drainSeconds: 60 },
    capacity: { query: 'max(capacity)' },
  };
  const samples = [{ at: '2026-01-01T00:00:00Z', values: [64], backlog: 480, capacity: 8 }];

  const text = await explainSnapshot(
    cpuSnapshot(0, { scaler: scalerDocument({ metrics: [{ external }] }), samples }),
  );

  expect(text).toContain('    backlog sum(waiting), to process in 60 s\n');
  expect(text).toContain('    per pod max(capacity)\n');
  expect(text).toContain('    count   64 + 480 / 60 s = 72, ceil(72 / 8) = 9\n');
});

it('explain adds the time in which pods start, and prints the state of a saturation step', async () => {
  const external = {
    metric: { name: 'jobs' },
    query: 'sum(rate(jobs[1m]))',
    target: { averageValue: 8 },
    backlog: { query: 'sum(waiting)', drainSeconds: 60 },
  };
  const resource = {
    name: 'cpu',
    target: { averageUtilization: 60 },
    saturation: { served: { query: 'sum(rate(served[1m]))' } },
  };
  const scaler = scalerDocument({ metrics: [{ external }, { resource }], podStart: { seconds: 120 } });
  const cpu = cpuSnapshot(83);
  const samples = [
    { at: '2026-01-01T00:00:00Z', values: [64], backlog: 480 },
    ...(cpu as { readonly samples: readonly unknown[] }).samples,
  ];

  const text = await explainSnapshot({ ...cpu, scaler, samples });

  expect(text).toContain(
    '    count   64 + 480 / (60 s + 120 s of pod start) = 66.667, ceil(66.667 / 8) = 9\n',
  );
  expect(text).toContain('    served  sum(rate(served[1m]))\n');
  expect(text).toMatch(
    / {4}step {4}the usage in percent of the limits is unknown: pod \S+ has no cpu limit\n/,
  );
});

it.each([
  ['percent of the requests', { averageUtilization: 60 }, 'pods at 95 %, lead auto'],
  ['percent of the requests above fillPercent', { averageUtilization: 99 }, 'pods at 99 %, lead auto'],
  ['cores, where fillPercent has no effect', { averageValue: '500m' }, 'pods at the target, lead auto'],
])('explain prints how full a forecast has the pods, for a target in %s', async (_, target, expected) => {
  const metrics = [{ resource: { name: 'cpu', target } }];

  const text = await explainSnapshot(cpuSnapshot(83, { scaler: scalerDocument({ metrics, forecast: {} }) }));

  expect(text).toContain(`lookback 15d, quantile 0.8, ${expected}, time zone UTC\n`);
});
