import { describe, expect, it } from '@jest/globals';
import { createChartPoints } from '../../src/telemetry/chart-points.js';
import type { ChartPoints } from '../../src/telemetry/chart-points.js';
import { at } from '../support/builders.js';
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
    const failed = metricResult({ error: 'no series', current: {} });
    chartPoints.add(
      record({ at: at(30), decision: decision({ recommendedReplicas: null, metrics: [failed] }) }),
    );

    expect(chartPoints.read('shop/web', ALL)?.points).toEqual([
      { at: at(0), counts: [3, 3, 3, 1, 10], values: [55, 60] },
      { at: at(15), counts: [null, null, null, null, null], values: [null, 60] },
      { at: at(30), counts: [3, 3, null, 1, 10], values: [null, 60] },
    ]);
    expect(chartPoints.read('shop/api', ALL)).toBeNull();
  });

  it('distinguishes a value of 0 and 0 replicas from unknown ones, and keeps 0.1 as 0.1', () => {
    const chartPoints = createChartPoints();
    const read = metricResult({ current: { averageValue: 0.1 } });
    const zero = metricResult({ current: { averageUtilization: 0 } });

    chartPoints.add(record({ decision: decision({ currentReplicas: 0, metrics: [zero] }) }));
    chartPoints.add(record({ scaler: scaler('api', [MEMORY]), decision: decision({ metrics: [read] }) }));

    expect(chartPoints.read('shop/web', ALL)?.points[0]).toMatchObject({
      counts: [0, 3, 3, 1, 10],
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
    expect(read?.points[0]).toMatchObject({ counts: [3, 3, 3, 1, 10], values: [null, null, null, null] });
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
