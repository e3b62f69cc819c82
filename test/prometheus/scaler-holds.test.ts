import { errorSample } from '../../src/decision/snapshot/judge-sample.js';
import type { FailureReason } from '../../src/units/failure.js';
import { describe, expect, it } from '@jest/globals';
import { listUsage, type Sample } from '../../src/decision/snapshot/snapshot.js';
import { advanceHolds, NO_HOLDS } from '../../src/prometheus/recovery-hold.js';
import { KEPT } from '../../src/prometheus/source/history-watch.js';
import { aScaler, aSource, at, cpuMetric, externalMetric } from '../support/builders.js';

const OLD = at(-100_000);
const value: Sample = { form: 'values', at: at(0), values: [1], partial: null };
const usage: Sample = {
  form: 'containers',
  at: at(0),
  windowSeconds: 120,
  ...listUsage(new Map()),
  partial: null,
};
const errorOf = (reason: FailureReason): Sample => errorSample(reason, reason);

describe('advanceHolds', () => {
  const input = (overrides: Partial<Parameters<typeof advanceHolds>[1]>) => ({
    scaler: aScaler([cpuMetric, externalMetric({ query: 'sum(queue)' })]),
    samples: [usage, value],
    ages: new Map([['default', { startTime: OLD, history: KEPT }]]),
    sources: new Map([['default', aSource()]]),
    now: at(0),
    maxSeconds: 900,
    ...overrides,
  });

  it('returns the longest hold of the metrics: 120 s of the cpu window, 300 s of a bare selector after a gap', () => {
    const first = advanceHolds(NO_HOLDS, input({ samples: [usage, errorOf('missing')] }));

    expect(first.holdScaleDownUntil).toBe(at(300));
    expect(first.holdReason).toBe('metric "queue" must return values for 300 s without a gap: missing');
  });

  it.each([
    ['rate(x[5m])', 15, 900, 300],
    ['rate(x[1m])', 15, 900, 60],
    ['rate(x[10s])', 15, 900, 30],
    ['x', 15, 900, 300],
    ['x offset 1h', 15, 900, 300],
    ['rate(x[1h])', 15, 900, 900],
    ['rate(x[1m])', 600, 900, 900],
    ['rate(x[1m])', 15, 20, 20],
  ])(
    'holds %s after a gap, with a period of %d s and at most %d s, for %d s',
    (query, syncPeriodSeconds, maxSeconds, seconds) => {
      const scaler = aScaler([externalMetric({ query })]);
      const spec = { ...scaler.spec, syncPeriodSeconds };

      const held = advanceHolds(
        NO_HOLDS,
        input({ scaler: { ...scaler, spec }, samples: [errorOf('missing')], maxSeconds }),
      );

      expect(held.holdScaleDownUntil).toBe(at(seconds));
    },
  );

  it.each([
    ['sum(queue)', 15, 30],
    ['sum(queue)', 30, 60],
    ['sum(queue)', 5, 30],
    ['sum(rate(queue[2m]))', 15, 120],
    ['sum(job:queue:rate5m)', 15, 300],
  ])(
    'holds %s, scraped every %d s, for %d s after a process start',
    (query, scrapeIntervalSeconds, seconds) => {
      const sources = new Map([['default', aSource({ scrapeIntervalSeconds })]]);
      const scaler = aScaler([externalMetric({ query })]);

      const first = advanceHolds(NO_HOLDS, input({ scaler, sources, samples: [value] }));

      expect(first.holdScaleDownUntil).toBe(at(seconds));
      expect(first.holdReason).toBe(
        `metric "queue" must return values for ${seconds} s without a gap: the earlier values of the metric are unknown`,
      );
    },
  );

  it('holds a bare selector for 300 s after a process start if the age of the source is unknown', () => {
    const scaler = aScaler([externalMetric()]);

    const first = advanceHolds(NO_HOLDS, input({ scaler, samples: [value], ages: new Map() }));

    expect(first.holdScaleDownUntil).toBe(at(300));
    expect(first.holdReason).toContain('for 300 s without a gap');
  });

  it.each([
    [299, at(300)],
    [300, null],
  ])('returns after %d s of values %s', (now, until) => {
    const scaler = aScaler([cpuMetric, externalMetric()]);
    let { holds } = advanceHolds(NO_HOLDS, input({ scaler, samples: [usage, errorOf('unknown')] }));
    ({ holds } = advanceHolds(holds, input({ scaler })));
    for (let second = 60; second < now; second += 60)
      ({ holds } = advanceHolds(holds, input({ scaler, now: at(second) })));

    const later = advanceHolds(holds, input({ scaler, now: at(now) }));

    expect(later.holdScaleDownUntil).toBe(until);
    expect(later.holdReason === null).toBe(until === null);
  });

  it('holds for at most recoveryHoldMaxSeconds, and not at all with 0', () => {
    const samples = [usage, errorOf('missing')];
    expect(advanceHolds(NO_HOLDS, input({ samples, maxSeconds: 200 })).holdScaleDownUntil).toBe(at(200));
    expect(advanceHolds(NO_HOLDS, input({ maxSeconds: 45 })).holdScaleDownUntil).toBe(at(45));
    expect(advanceHolds(NO_HOLDS, input({ maxSeconds: 0 })).holdScaleDownUntil).toBeNull();
  });

  it('restarts the hold of a changed query, not those of others', () => {
    const before = advanceHolds(NO_HOLDS, input({}));
    const scaler = aScaler([cpuMetric, externalMetric({ query: 'rate(queue[5m])' })]);

    const after = advanceHolds(before.holds, input({ scaler, now: at(1000) }));

    expect(after.holdScaleDownUntil).toBe(at(1300));
    expect(after.holds.map(({ key }) => key)).toEqual([
      expect.stringContaining('Resource/cpu\n'),
      'External/queue\ndefault\nrate(queue[5m])',
    ]);
  });

  it('continues the holds of an edited document whose queries are the same, in another order', () => {
    const queue = externalMetric({ query: 'sum(queue)' });
    const before = advanceHolds(NO_HOLDS, input({ scaler: aScaler([cpuMetric, queue]) }));
    const edited = aScaler([{ ...queue }, { ...cpuMetric }]);

    const after = advanceHolds(before.holds, input({ scaler: edited, samples: [value, usage], now: at(30) }));

    expect(after.holdScaleDownUntil).toBe(at(120));
    expect(after.holds.map(({ hold }) => hold.valuesSince)).toEqual([at(0), at(0)]);
    expect(after.holds.map(({ metric }) => metric)).toEqual(edited.spec.metrics);
  });

  it('uses the window of resource queries, and two scrape intervals of 30 s for those without one', () => {
    const memory = { ...cpuMetric, name: 'memory', identity: 'memory' };

    const cpu = advanceHolds(NO_HOLDS, input({ scaler: aScaler([cpuMetric]), samples: [usage] }));
    const bare = advanceHolds(NO_HOLDS, input({ scaler: aScaler([memory]), samples: [usage] }));

    expect([cpu.holdScaleDownUntil, bare.holdScaleDownUntil]).toEqual([at(120), at(60)]);
  });

  it('neither ends nor begins a hold when the window of the resource query shrinks from 120 s to 60 s', () => {
    const scaler = aScaler([cpuMetric]);
    const withWindow = (resourceWindowSeconds: number) => ({
      scaler,
      samples: [usage],
      sources: new Map([['default', aSource({ resourceWindowSeconds, learnedIntervalSeconds: 15 })]]),
    });
    const first = advanceHolds(NO_HOLDS, input({ ...withWindow(120), samples: [errorOf('missing')] }));
    const second = advanceHolds(first.holds, input({ ...withWindow(120), now: at(15) }));

    const shrunk = advanceHolds(second.holds, input({ ...withWindow(60), now: at(30) }));
    const later = advanceHolds(shrunk.holds, input({ ...withWindow(60), now: at(75) }));

    expect([second.holdScaleDownUntil, shrunk.holdScaleDownUntil]).toEqual([at(135), at(75)]);
    expect(shrunk.holdReason).toBe('metric "cpu" must return values for 60 s without a gap: missing');
    expect(later.holdScaleDownUntil).toBeNull();
  });

  it('holds a window that grows from 20 s to 120 s for 100 s, in which it counts an earlier load again', () => {
    const scaler = aScaler([cpuMetric]);
    const withWindow = (resourceWindowSeconds: number) => ({
      scaler,
      samples: [usage],
      sources: new Map([['default', aSource({ resourceWindowSeconds, learnedIntervalSeconds: 30 })]]),
    });
    let { holds } = advanceHolds(NO_HOLDS, input(withWindow(20)));
    const until: unknown[] = [];
    const reasons: (string | null)[] = [];
    for (let second = 30; second <= 330; second += 30) {
      const next = advanceHolds(holds, input({ ...withWindow(second < 180 ? 20 : 120), now: at(second) }));
      holds = next.holds;
      reasons.push(next.holdReason);
      until.push(next.holdScaleDownUntil);
    }

    // With the window of 120 s from 180 s on.
    expect(until.slice(0, 5)).toEqual([at(60), null, null, null, null]);
    expect(until.slice(5)).toEqual([at(280), at(280), at(280), at(280), null, null]);
    expect(reasons[5]).toBe(
      'metric "cpu" must return values for 120 s without a gap: the window of its query has grown from 20 s to 120 s',
    );
  });

  it.each([
    [600, 600],
    [60, 300],
  ])('uses the window of %d s of a recording rule, and at least 300 s: %d', (cpu, seconds) => {
    const source = aSource({ resourceQueries: { cpu: 'pod:cpu:rate' }, resourceWindows: { cpu } });
    const sources = new Map([['default', source]]);

    const hold = advanceHolds(NO_HOLDS, input({ scaler: aScaler([cpuMetric]), samples: [usage], sources }));

    expect(hold.holdScaleDownUntil).toBe(at(seconds));
  });
});
