import { describe, expect, it } from '@jest/globals';
import type { ErrorSample, Sample } from '../../src/decision/snapshot/snapshot.js';
import {
  advanceHold,
  advanceHolds,
  type HoldInput,
  holdSeconds,
  type MetricHold,
  NO_HOLDS,
  sampleOutcome,
} from '../../src/prometheus/recovery-hold.js';
import { type HistoryState, KEPT } from '../../src/prometheus/history-watch.js';
import { formatInstant } from '../../src/units/time.js';
import { aScaler, aSource, at, cpuMetric, externalMetric } from '../support/builders.js';

const OLD = at(-100_000);
const value: Sample = { form: 'values', at: at(0), values: [1], partial: null };
const usage: Sample = {
  form: 'containers',
  at: at(0),
  windowSeconds: 120,
  containers: new Map(),
  partial: null,
};
const errorOf = (kind: ErrorSample['kind']): Sample => ({ form: 'error', kind, error: kind });

/** Steps of [second, outcome, start time], H = 60, a period of 15 s. */
type Step = readonly [number, 'value' | 'failed' | 'broken', (number | null)?];

function run(steps: readonly Step[], overrides: Partial<HoldInput> = {}): MetricHold | null {
  let hold: MetricHold | null = null;
  for (const [second, kind, start = -100_000] of steps) {
    hold = advanceHold(hold, {
      now: at(second),
      outcome: kind === 'broken' ? { kind, why: 'no series' } : { kind },
      startTime: start === null ? null : at(start),
      holdSeconds: 60,
      periodSeconds: 15,
      ...overrides,
    });
  }
  return hold;
}

const untilOf = (steps: readonly Step[], overrides: Partial<HoldInput> = {}): string =>
  formatInstant(run(steps, overrides)?.until ?? at(-1));
const second = (seconds: number): string => formatInstant(at(seconds));

describe('advanceHold', () => {
  it('holds for 60 s from the first value after the process start', () => {
    expect(untilOf([[0, 'value']])).toBe(second(60));
    expect(
      untilOf([
        [0, 'value'],
        [15, 'value'],
        [45, 'value'],
      ]),
    ).toBe(second(60));
  });

  it('begins with the first value, not with the failures before it', () => {
    expect(untilOf([[0, 'failed']])).toBe(second(60));
    expect(
      untilOf([
        [0, 'failed'],
        [30, 'failed'],
        [45, 'value'],
      ]),
    ).toBe(second(105));
  });

  it('starts again after a missing or partial answer', () => {
    expect(
      untilOf([
        [0, 'value'],
        [100, 'broken'],
      ]),
    ).toBe(second(160));
    expect(
      untilOf([
        [0, 'value'],
        [100, 'broken'],
        [115, 'value'],
        [130, 'value'],
      ]),
    ).toBe(second(175));
  });

  it('is not broken by a failed query to a server older than H', () => {
    expect(
      untilOf([
        [0, 'value'],
        [15, 'failed'],
        [30, 'value'],
      ]),
    ).toBe(second(60));
  });

  it('is broken by 61 s of silence of a server older than H, which may have lost the connection to its targets', () => {
    expect(
      untilOf([
        [0, 'value'],
        [30, 'failed'],
        [60, 'value'],
      ]),
    ).toBe(second(60));
    expect(
      untilOf([
        [0, 'value'],
        [30, 'failed'],
        [61, 'value'],
      ]),
    ).toBe(second(121));
  });

  it('is not broken by 60 s of silence of a source of unknown start time, but by 61 s', () => {
    expect(
      untilOf([
        [0, 'value', null],
        [30, 'failed', null],
        [60, 'value', null],
      ]),
    ).toBe(second(60));
    expect(
      untilOf([
        [0, 'value', null],
        [30, 'failed', null],
        [61, 'value', null],
      ]),
    ).toBe(second(121));
  });

  it('is not interrupted by a sync period above 60 s', () => {
    const steps: readonly Step[] = [
      [0, 'value', null],
      [120, 'value', null],
    ];

    expect(untilOf(steps, { periodSeconds: 120 })).toBe(second(60));
    expect(untilOf(steps, { periodSeconds: 60 })).toBe(second(180));
  });

  it('is broken by each answer of a server younger than H', () => {
    expect(
      untilOf([
        [0, 'value'],
        [100, 'value', 90],
      ]),
    ).toBe(second(210));
    expect(
      untilOf([
        [0, 'value'],
        [149, 'value', 90],
      ]),
    ).toBe(second(210));
    expect(
      untilOf([
        [0, 'value'],
        [149, 'value', 90],
        [150, 'value', 90],
      ]),
    ).toBe(second(210));
  });

  it('is not broken by a server of exactly the age H, or by another old start time', () => {
    expect(
      untilOf([
        [0, 'value'],
        [50, 'value'],
        [100, 'value', 40],
      ]),
    ).toBe(second(60));
    expect(
      untilOf([
        [0, 'value'],
        [50, 'value'],
        [100, 'value', 41],
      ]),
    ).not.toBe(second(60));
    expect(
      untilOf([
        [0, 'value', -500],
        [15, 'value', -900],
        [30, 'value', -500],
      ]),
    ).toBe(second(60));
  });

  it('names the cause of the gap', () => {
    expect(run([[0, 'value']])?.cause).toBe('no earlier values are known');
    expect(
      run([
        [0, 'broken'],
        [15, 'value'],
      ])?.cause,
    ).toBe('no series');
    expect(run([[0, 'value', -10]])?.cause).toBe('the server started at 2025-12-31T23:59:50Z');
    expect(
      run([
        [0, 'value', null],
        [90, 'value', null],
      ])?.cause,
    ).toBe('the source did not answer for 90 s');
  });
});

describe('holdSeconds', () => {
  it.each([
    ['rate(x[5m])', 15, 900, 300],
    ['rate(x[1m])', 15, 900, 60],
    ['rate(x[10s])', 15, 900, 30],
    ['x', 15, 900, 300],
    ['x offset 1h', 15, 900, 300],
    ['rate(x[1h])', 15, 900, 900],
    ['rate(x[1m])', 600, 900, 900],
    ['rate(x[1m])', 15, 0, 0],
  ])('of %s every %d s, at most %d, is %d', (query, period, max, expected) => {
    expect(holdSeconds(query, period, max)).toBe(expected);
  });
});

describe('a source without a start time', () => {
  const values: readonly Step[] = [
    [0, 'value', null],
    [60, 'value', null],
  ];
  const loss = { at: at(75), why: 'targets are gone' };
  const lost = { state: 'lost', loss } as const;
  const kept = { state: 'kept', loss } as const;
  const unknown = { state: 'unknown', loss: null, why: 'it is unknown' } as const;
  const next = (history: HistoryState, second: number, before = run(values)): MetricHold =>
    advanceHold(before, {
      now: at(second),
      outcome: { kind: 'value' },
      startTime: null,
      history,
      holdSeconds: 60,
      periodSeconds: 15,
    });
  const through = (...rounds: readonly (readonly [number, HistoryState])[]): MetricHold | null =>
    rounds.reduce((hold, [second, history]) => next(history, second, hold), run(values));

  it('is held after a loss of earlier data as if it had started at the detection', () => {
    const first = next(lost, 75);

    expect(first).toMatchObject({ valuesSince: null, until: at(195), cause: 'targets are gone' });
    expect(through([75, lost], [90, lost])).toEqual({ ...first, lastAnswerAt: at(90) });
    expect(through([75, lost], [90, kept], [134, kept])).toEqual({ ...first, lastAnswerAt: at(134) });
    expect(through([75, lost], [90, kept], [135, kept])).toMatchObject({
      valuesSince: at(135),
      until: at(195),
    });
  });

  it('is held for a loss that the query for another scaler detected', () => {
    expect(next(kept, 90)).toMatchObject({ valuesSince: null, until: at(195), cause: 'targets are gone' });
  });

  it('is held for 60 s of values after its data has returned, however late', () => {
    expect(through([75, lost], [135, lost], [180, lost])?.until).toBe(at(240));
    expect(through([75, lost], [135, lost], [180, lost], [195, KEPT])).toMatchObject({
      valuesSince: at(195),
      until: at(255),
    });
  });

  it('is not held for a loss that was detected 60 s ago or earlier', () => {
    const longAgo = { state: 'kept', loss: { ...loss, at: at(15) } } as const;

    expect(next(longAgo, 75)).toMatchObject({ valuesSince: at(0), until: at(60) });
  });

  it('is not trusted for one period if the query for its earlier data fails, which is not a gap', () => {
    const doubtful = next(unknown, 75);

    expect(doubtful).toMatchObject({ valuesSince: at(0), until: at(90), cause: 'it is unknown' });
    expect(next(KEPT, 90, doubtful).until).toBe(at(60));
    expect(through([75, lost], [90, { ...unknown, loss }])?.until).toBe(at(195));
  });
});

describe('sampleOutcome', () => {
  const zero = externalMetric({ onMissing: 'zero', onNaN: 'zero' });

  it.each([
    [externalMetric(), value, 'value'],
    [externalMetric(), { ...value, partial: 'why' }, 'broken'],
    [externalMetric(), errorOf('missing'), 'broken'],
    [externalMetric(), errorOf('nan'), 'broken'],
    [externalMetric(), errorOf('invalid'), 'broken'],
    [externalMetric(), errorOf('failed'), 'failed'],
    [zero, errorOf('missing'), 'value'],
    [zero, errorOf('nan'), 'value'],
    [zero, errorOf('invalid'), 'broken'],
    [zero, errorOf('failed'), 'failed'],
    [cpuMetric, errorOf('missing'), 'broken'],
    [cpuMetric, usage, 'value'],
    [cpuMetric, value, 'broken'],
    [externalMetric(), { ...value, values: [] }, 'broken'],
    [zero, { ...value, values: [] }, 'value'],
    [externalMetric(), { ...value, values: [-1] }, 'broken'],
  ])('%# is %s', (metric, sample, kind) => {
    expect(sampleOutcome(metric, sample).kind).toBe(kind);
  });
});

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

  it('returns the longest hold of the metrics: 120 s of the cpu window, 300 s of a bare selector', () => {
    const first = advanceHolds(NO_HOLDS, input({}));

    expect(first.holdScaleDownUntil).toBe(at(300));
    expect(first.holdReason).toBe(
      'metric "queue" must return values for 300 s without a gap: no earlier values are known',
    );
  });

  it.each([
    [299, at(300)],
    [300, null],
  ])('returns after %d s of values %s', (now, until) => {
    const scaler = aScaler([cpuMetric, externalMetric()]);
    let { holds } = advanceHolds(NO_HOLDS, input({ scaler }));
    for (let second = 60; second < now; second += 60)
      ({ holds } = advanceHolds(holds, input({ scaler, now: at(second) })));

    const later = advanceHolds(holds, input({ scaler, now: at(now) }));

    expect(later.holdScaleDownUntil).toBe(until);
    expect(later.holdReason === null).toBe(until === null);
  });

  it('holds for at most recoveryHoldMaxSeconds, and not at all with 0', () => {
    expect(advanceHolds(NO_HOLDS, input({ maxSeconds: 200 })).holdScaleDownUntil).toBe(at(200));
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

    expect(after.holdScaleDownUntil).toBe(at(300));
    expect(after.holds.map(({ hold }) => hold.valuesSince)).toEqual([at(0), at(0)]);
    expect(after.holds.map(({ metric }) => metric)).toEqual(edited.spec.metrics);
  });

  it('uses the window of resource queries, and 300 s for those without one', () => {
    const memory = { ...cpuMetric, name: 'memory', identity: 'memory' };

    const cpu = advanceHolds(NO_HOLDS, input({ scaler: aScaler([cpuMetric]), samples: [usage] }));
    const bare = advanceHolds(NO_HOLDS, input({ scaler: aScaler([memory]), samples: [usage] }));

    expect([cpu.holdScaleDownUntil, bare.holdScaleDownUntil]).toEqual([at(120), at(300)]);
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
