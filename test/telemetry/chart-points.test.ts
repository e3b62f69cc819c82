import { failed } from '../../src/units/failure.js';
import { describe, expect, it } from '@jest/globals';
import { createChartPoints } from '../../src/telemetry/chart-points.js';
import type { ChartPoints } from '../../src/telemetry/chart-points.js';
import { EMPTY_STATE } from '../../src/decision/snapshot/snapshot.js';
import { aPod, at, scalerOf } from '../support/builders.js';
import { CPU, MEMORY, decision, metricResult, record, scaler } from './record-builder.js';

const ALL = { since: null, limit: 10_000, stepSeconds: null };

/** Builds a cycle `seconds` after the start with cpu at `percent` and `replicas`. */
function cycle(seconds: number, percent: number, replicas = 3): ReturnType<typeof record> {
  const metrics = [metricResult({ current: { averageUtilization: percent } })];
  return record({ at: at(seconds), decision: decision({ currentReplicas: replicas, metrics }) });
}

function timesOf(chartPoints: ChartPoints, range: Partial<typeof ALL> = {}): readonly number[] {
  const read = chartPoints.read('shop/web', { ...ALL, ...range });
  return (read?.points ?? []).map((point) => (point.at - at(0)) / 1000);
}

describe('createChartPoints', () => {
  it('keeps counts, value and target of each cycle, and null for what is unknown', () => {
    const chartPoints = createChartPoints();

    chartPoints.add(cycle(0, 55));
    chartPoints.add(record({ at: at(15), snapshot: null, decision: null }));
    const failing = metricResult({ error: failed('missing', 'no series'), current: {} });
    chartPoints.add(
      record({ at: at(30), decision: decision({ recommendedReplicas: null, metrics: [failing] }) }),
    );

    expect(chartPoints.read('shop/web', ALL)?.points).toEqual([
      { at: at(0), counts: [3, 3, 3, 1, 10, 0], values: [55, 60] },
      { at: at(15), counts: [null, null, null, 1, 10, null], values: [null, 60] },
      { at: at(30), counts: [3, 3, null, 1, 10, 0], values: [null, 60] },
    ]);
    expect(chartPoints.read('shop/api', ALL)).toBeNull();
  });

  it('counts 2 ready pods of 5: one is not ready, one terminates, one has failed', () => {
    const chartPoints = createChartPoints();
    const pods = [
      aPod('a'),
      aPod('b'),
      aPod('c', { ready: false }),
      aPod('d', { deleting: true }),
      aPod('e', { phase: 'Failed' }),
    ];
    const { snapshot } = record();
    if (snapshot === null) throw new Error('no snapshot');

    chartPoints.add(record({ snapshot: { ...snapshot, pods } }));

    expect(chartPoints.read('shop/web', ALL)?.points[0]?.counts.at(-1)).toBe(2);
  });

  it('distinguishes a value of 0 and 0 replicas from unknown ones, and keeps 0.1 as 0.1', () => {
    const chartPoints = createChartPoints();
    const read = metricResult({ current: { averageValue: 0.1 } });
    const zero = metricResult({ current: { averageUtilization: 0 } });

    chartPoints.add(record({ decision: decision({ currentReplicas: 0, metrics: [zero] }) }));
    chartPoints.add(record({ scaler: scaler('api', [MEMORY]), decision: decision({ metrics: [read] }) }));

    expect(chartPoints.read('shop/web', ALL)?.points[0]).toMatchObject({
      counts: [0, 3, 3, 1, 10, 0],
      values: [0, 60],
    });
    expect(chartPoints.read('shop/api', ALL)?.points[0]?.values[0]).toBe(0.1);
  });

  it('keeps the first and the last of 5 equal points, and all different ones', () => {
    const chartPoints = createChartPoints();

    for (const seconds of [0, 15, 30, 45, 60]) chartPoints.add(cycle(seconds, 55));
    chartPoints.add(cycle(75, 56));
    chartPoints.add(cycle(90, 57));

    expect(timesOf(chartPoints)).toEqual([0, 60, 75, 90]);
  });

  it.each([
    [37, [0, 52]],
    [38, [0, 15, 53]],
  ])('with a period of 15 s and a gap of %i s keeps the points %j', (pause, times) => {
    const chartPoints = createChartPoints();

    for (const seconds of [0, 15, 15 + pause]) chartPoints.add(cycle(seconds, 55));

    expect(timesOf(chartPoints)).toEqual(times);
  });

  it('keeps the newest 30 of 120 points as decided, and one per 5 minutes of the time before', () => {
    const crowd = createChartPoints({ fine: 40, coarse: 40, totalBytes: 1 });

    for (let index = 0; index < 120; index += 1) crowd.add(cycle(15 * index, index, index));

    // Each scaler keeps 60 points however many scalers share the capacity: 30 of each kind.
    expect(crowd.read('shop/web', ALL)?.points.filter((point) => point.at >= at(90 * 15))).toHaveLength(30);
    expect(timesOf(crowd).slice(0, 5)).toEqual([285, 585, 885, 1185, 1350]);
    const [first] = crowd.read('shop/web', ALL)?.points ?? [];
    // The last count of 20 cycles, 19, and the mean of cpu from 0 to 19 %.
    expect([first?.counts[0], first?.values[0]]).toEqual([19, 9.5]);
  });

  it('returns the points since an instant, the newest 2 of them, or one per 60 s', () => {
    const chartPoints = createChartPoints();
    for (let index = 0; index < 8; index += 1) chartPoints.add(cycle(15 * index, 10 * index, index));

    expect(timesOf(chartPoints, { limit: 2 })).toEqual([90, 105]);
    expect(chartPoints.read('shop/web', { ...ALL, since: at(90) })?.points).toHaveLength(2);
    const joined = chartPoints.read('shop/web', { ...ALL, stepSeconds: 60 });
    expect(joined?.points.map((point) => [point.at, point.counts[0], point.values[0]])).toEqual([
      [at(45), 3, 15],
      [at(105), 7, 55],
    ]);
    expect(joined?.keptFrom).toBe(at(0));
  });

  it('keeps the counts, but no values of a removed metric, when the document changes its metrics', () => {
    const chartPoints = createChartPoints();

    chartPoints.add(cycle(0, 55));
    chartPoints.add(record({ at: at(15), scaler: scaler('web', [MEMORY, CPU]) }));

    const read = chartPoints.read('shop/web', ALL);
    expect(read?.metrics).toEqual([MEMORY, CPU]);
    expect(read?.points[0]).toMatchObject({ counts: [3, 3, 3, 1, 10, 0], values: [null, null, null, null] });
  });

  it('has the target of the document as it was in each cycle', () => {
    const chartPoints = createChartPoints();
    const raised = { ...CPU, target: { type: 'Utilization', percent: 70 } } as const;

    chartPoints.add(cycle(0, 55));
    chartPoints.add({ ...cycle(15, 55), scaler: scaler('web', [raised]) });

    expect(chartPoints.read('shop/web', ALL)?.points.map(({ values }) => values)).toEqual([
      [55, 60],
      [55, 70],
    ]);
  });

  it('forgets a removed scaler', () => {
    const chartPoints = createChartPoints();
    chartPoints.add(cycle(0, 55));

    chartPoints.remove('shop/web');

    expect(chartPoints.read('shop/web', ALL)).toBeNull();
  });
});

describe('the points of a scaler with a forecast', () => {
  const FORECAST = scalerOf({
    scaleTargetRef: { name: 'web' },
    maxReplicas: 9,
    metrics: [{ resource: { name: 'cpu', target: { averageUtilization: 60 } } }],
    forecast: { lead: '120s' },
  });
  const REACTIVE = { replicas: 3, lastScaleUp: null, lastScaleDown: null, scaleEvents: [] };

  /** A cycle `seconds` after the start in which the load is `load`, and three days show `then` at the level of 10. */
  function forecastCycle(seconds: number, { load = 10, then = 20, unusable = null as string | null } = {}) {
    const seasons = [1, 2, 3].map((day) => ({
      at: at(seconds + 120 - day * 86_400),
      load: then + day,
      level: 10,
    }));
    const minute = Math.floor(seconds / 60);
    const minutes = [4, 3, 2, 1, 0].map((before) => ({
      at: at(60 * (minute - before)),
      sum: 2 * load,
      count: 2,
    }));
    const state = { at: at(seconds), minutes, reactive: REACTIVE, proposals: [], spent: [], raises: [] };
    const made = record({
      scaler: FORECAST,
      at: at(seconds),
      decision: decision({ state: { ...EMPTY_STATE, forecast: state } }),
    });
    const loadHistory = { leadSeconds: 120, highest: 100, seasons, unusable };
    return { ...made, snapshot: made.snapshot === null ? null : { ...made.snapshot, loadHistory } };
  }

  const forecastsOf = (chartPoints: ChartPoints): unknown =>
    chartPoints
      .read('shop/web', ALL)
      ?.points.map(({ at: time, values }) => [(time - at(0)) / 1000, ...values.slice(2)]);

  it('have the load of their time, and what was expected of it 120 s before', () => {
    const chartPoints = createChartPoints();

    chartPoints.add(forecastCycle(0, { then: 20 }));
    chartPoints.add(forecastCycle(60, { load: 11, then: 30 }));
    chartPoints.add(forecastCycle(120, { load: 12 }));
    chartPoints.add(forecastCycle(180, { load: 13 }));

    expect(forecastsOf(chartPoints)).toEqual([
      [0, 10, null, null, null],
      [60, 11, null, null, null],
      // Three days had 21, 22 and 23, and today is at 100 %.
      [120, 12, 21, 23, 23],
      // Then 31, 32 and 33, at 110 %.
      [180, 13, 34.1, 36.3, 36.3],
    ]);
  });

  it('have no expectation for a time of which nothing was known, and no load that is not known', () => {
    const chartPoints = createChartPoints();

    chartPoints.add(forecastCycle(0));
    for (const seconds of [60, 120, 180, 240]) chartPoints.add(forecastCycle(seconds, { unusable: 'away' }));
    chartPoints.add(record({ scaler: FORECAST, at: at(300), snapshot: null, decision: null }));

    // The expectation for 120 s is used until it is older than two minutes and a period.
    expect(forecastsOf(chartPoints)).toEqual([
      [0, 10, null, null, null],
      [60, 10, null, null, null],
      [120, 10, 21, 23, 23],
      [180, 10, 21, 23, 23],
      [240, 10, 21, 23, 23],
      [300, null, null, null, null],
    ]);
  });

  it('keep their number bounded when the clock is set back by an hour', () => {
    const chartPoints = createChartPoints();
    for (let seconds = 3600; seconds < 3900; seconds += 60) chartPoints.add(forecastCycle(seconds));

    for (let seconds = 0; seconds <= 120; seconds += 60)
      chartPoints.add(forecastCycle(seconds, { then: 40 }));

    expect((forecastsOf(chartPoints) as unknown[]).at(-1)).toEqual([120, 10, 41, 43, 43]);
  });
});
