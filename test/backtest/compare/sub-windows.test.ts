import { describe, expect, it } from '@jest/globals';
import { runAll, scoringOf, traceWorkload } from '../../../src/backtest/compare/variant.js';
import { runJobsHere } from '../../support/backtests.js';
import { figuresByWindow, meanWithoutSmallest, subWindows } from '../../../src/backtest/compare/probes.js';
import { createLoad, type Load } from '../../../src/backtest/simulation/load.js';
import { addSeconds, instantFromMs, secondsBetween } from '../../../src/units/time.js';
import { scalerOf } from '../../support/builders.js';
import { ASSUMPTIONS } from './assumptions.js';

const START = instantFromMs(Date.UTC(2026, 0, 5));

/** A value per minute. */
function loadOf(values: readonly number[], seconds = values.length * 60): Load {
  const times = Float64Array.from(values, (_, minute) => START + minute * 60_000);
  return createLoad(times, Float64Array.from(values), addSeconds(START, seconds));
}

const lengths = (seconds: number): readonly number[] =>
  subWindows(scoringOf(loadOf([10], seconds), ASSUMPTIONS), ASSUMPTIONS).map(({ demand }) =>
    secondsBetween(demand.start, demand.end),
  );

describe('subWindows', () => {
  it.each([
    ['twelve of two steps', 360, Array.from({ length: 12 }, () => 30)],
    ['twelve of one step', 180, Array.from({ length: 12 }, () => 15)],
    ['one for each of eleven steps', 165, Array.from({ length: 11 }, () => 15)],
    ['the rest of a step belongs to the last window', 40, [15, 25]],
    ['a load that is shorter than a step', 10, [10]],
  ])('cuts the time: %s', (_, seconds, expected) => {
    expect(lengths(seconds)).toEqual(expected);
  });
});

describe('figuresByWindow', () => {
  const scaler = scalerOf({
    scaleTargetRef: { name: 'web' },
    maxReplicas: 100,
    metrics: [{ resource: { name: 'cpu', target: { averageUtilization: 80 } } }],
  });

  it('splits what the whole has: theta_U is its mean, pod-hours and changes are its sum', async () => {
    const load = loadOf(Array.from({ length: 120 }, (_, minute) => (minute % 30 < 15 ? 30 : 150)));
    const scoring = scoringOf(load, ASSUMPTIONS);
    const given = {
      workload: traceWorkload(load, ASSUMPTIONS),
      scoring,
      assumptions: ASSUMPTIONS,
      runJobs: runJobsHere,
    };

    const [result] = await runAll([{ name: '', scaler }], given);

    if (result?.run === undefined || result.run === null) throw new Error('it did not run');
    const windows = figuresByWindow(result.run, subWindows(scoring, ASSUMPTIONS));
    const sum = (read: (one: NonNullable<(typeof windows)[number]>) => number): number =>
      windows.reduce((total, one) => total + (one === null ? NaN : read(one)), 0);
    expect(windows).toHaveLength(12);
    expect(result.figures.thetaU).toBeGreaterThan(1);
    expect(sum(({ thetaU }) => thetaU) / 12).toBeCloseTo(result.figures.thetaU, 9);
    expect(sum(({ unserved }) => unserved)).toBeGreaterThan(1);
    expect(sum(({ podHours }) => podHours)).toBeCloseTo(result.figures.podHours, 9);
    expect(sum(({ changes }) => changes)).toBe(result.figures.changes);
  });

  it('has no figures for a window in which the load is unknown', async () => {
    const load = loadOf(Array.from({ length: 24 }, (_, minute) => (minute < 2 ? NaN : 30)));
    const scoring = scoringOf(load, ASSUMPTIONS);
    const given = {
      workload: traceWorkload(load, ASSUMPTIONS),
      scoring,
      assumptions: ASSUMPTIONS,
      runJobs: runJobsHere,
    };

    const [result] = await runAll([{ name: '', scaler }], given);

    if (result?.run === undefined || result.run === null) throw new Error('it did not run');
    const windows = figuresByWindow(result.run, subWindows(scoring, ASSUMPTIONS));
    expect(windows.map((one) => one === null)).toEqual([true, ...Array.from({ length: 11 }, () => false)]);
  });
});

describe('meanWithoutSmallest', () => {
  it.each([
    ['none of five', [1, 2, 3, 4, 5], 3],
    ['one of six', [-100, 2, 2, 2, 2, 2], 2],
    ['one of eleven', [1, 1, 1, 1, 1, -9, 1, 1, 1, 1, -9], 0],
    ['two of twelve', [-9, -9, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], 1],
  ])('leaves out %s', (_, values, expected) => {
    expect(meanWithoutSmallest(values)).toBe(expected);
  });

  it('is NaN without values', () => {
    expect(meanWithoutSmallest([])).toBeNaN();
  });
});
