import { errorSample } from '../../src/decision/snapshot/judge-sample.js';
import type { FailureReason } from '../../src/units/failure.js';
import { describe, expect, it } from '@jest/globals';
import { listUsage, type Sample } from '../../src/decision/snapshot/snapshot.js';
import {
  advanceHold,
  type HoldInput,
  type MetricHold,
  sampleOutcome,
} from '../../src/prometheus/recovery-hold.js';
import { type HistoryState, KEPT } from '../../src/prometheus/source/history-watch.js';
import { formatInstant } from '../../src/units/time.js';
import { at, cpuMetric, externalMetric } from '../support/builders.js';

const value: Sample = { form: 'values', at: at(0), values: [1], partial: null };
const usage: Sample = {
  form: 'containers',
  at: at(0),
  windowSeconds: 120,
  ...listUsage(new Map()),
  partial: null,
};
const errorOf = (reason: FailureReason): Sample => errorSample(reason, reason);

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

  it('holds for 30 s after a process start if that is enough, and for 60 s after a gap or a failed first query', () => {
    const startSeconds = 30;
    expect(untilOf([[0, 'value']], { startSeconds })).toBe(second(30));
    expect(
      untilOf(
        [
          [0, 'value'],
          [15, 'value'],
        ],
        { startSeconds },
      ),
    ).toBe(second(30));
    expect(
      untilOf(
        [
          [0, 'failed'],
          [15, 'value'],
        ],
        { startSeconds },
      ),
    ).toBe(second(75));
    expect(
      untilOf(
        [
          [0, 'value'],
          [15, 'broken'],
          [30, 'value'],
        ],
        { startSeconds },
      ),
    ).toBe(second(90));
    expect(
      untilOf(
        [
          [0, 'value'],
          [61, 'value'],
        ],
        { startSeconds },
      ),
    ).toBe(second(121));
  });

  it('holds for 60 s after a process start if the source is younger than that, or of unknown age', () => {
    const startSeconds = 30;
    expect(untilOf([[0, 'value', -60]], { startSeconds })).toBe(second(30));
    expect(untilOf([[0, 'value', -59]], { startSeconds })).toBe(second(61));
    expect(untilOf([[0, 'value', null]], { startSeconds })).toBe(second(60));
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

  it('is broken by 36 s of silence if scrapes are 15 s apart, not by 35 s: two intervals and 5 s', () => {
    const untilAfter = (silence: number) =>
      untilOf(
        [
          [0, 'value'],
          [silence, 'value'],
        ],
        { scrapeIntervalSeconds: 15 },
      );

    expect([untilAfter(35), untilAfter(36)]).toEqual([second(60), second(96)]);
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
    expect(run([[0, 'value']])?.cause).toBe('the earlier values of the metric are unknown');
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
    ).toBe('the data source did not answer for 90 s');
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
    [externalMetric(), errorOf('unknown'), 'failed'],
    [zero, errorOf('missing'), 'value'],
    [zero, errorOf('nan'), 'value'],
    [zero, errorOf('invalid'), 'broken'],
    [zero, errorOf('unknown'), 'failed'],
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
