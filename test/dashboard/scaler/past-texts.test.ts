import { describe, expect, test } from '@jest/globals';
import type { Figures } from '../../../src/backtest/compare/figures.js';
import {
  chartColumns,
  describeDifference,
  describeDrift,
} from '../../../src/dashboard/scaler/what-if/past-texts.js';
import { T0, at } from '../../support/builders.js';

const figuresOf = (figures: Partial<Figures>): Figures => ({
  ...{ thetaU: 0, thetaO: 0, tauU: 0, tauO: 0, instability: 0, deviation: 0, unserved: 0 },
  ...{ averagePods: 4, peakPods: 4, podHours: 8, cost: null, changes: 5, flaps: 0, atMaximum: 0 },
  ...{ byLimit: {}, queue: null },
  ...figures,
});

describe('the difference', () => {
  test('names pod-hours, changes, the time at the maximum and the missing pods', () => {
    const changed = figuresOf({ podHours: 10.24, changes: 1, atMaximum: 0, thetaU: 0.24 });
    const applied = figuresOf({ atMaximum: 40, thetaU: 6.06 });

    expect(describeDifference(applied, changed, { need: { perPod: 1, by: 'capacity' } })).toBe(
      'With the change: 10.2 pod-hours instead of 8 (28 % more); 1 change instead of 5; limited by maxReplicas in 0 % of the decisions instead of 40 %; 0.2 % missing pods (of the pods that the load needs) instead of 6.1 %.',
    );
  });

  test('names the pods that keep the load at its target, if the capacity of a pod is unknown', () => {
    const text = describeDifference(figuresOf({ thetaU: 50 }), figuresOf({}), {
      need: { perPod: 1, by: 'target' },
    });

    expect(text).toContain(
      '; 0 % missing pods (of the pods that keep the load at its target) instead of 50 %.',
    );
  });

  test('says what is the same, and does not name missing pods if it is unknown which are needed', () => {
    expect(describeDifference(figuresOf({}), figuresOf({ podHours: 6 }), { need: null })).toBe(
      'With the change: 6 pod-hours instead of 8 (25 % less); still 5 changes; still limited by maxReplicas in 0 % of the decisions.',
    );
  });
});

describe('the recorded replicas', () => {
  test('is near with a difference of 10 % of the pod-hours, and far with 11 %', () => {
    const [near, far] = [90, 89].map((podHours) =>
      describeDrift(figuresOf({ podHours }), figuresOf({ podHours: 100, changes: 1 })),
    );

    expect(near).toEqual({
      isFar: false,
      text: 'Without the change, the simulation has 90 pod-hours and 5 changes; the recorded replicas have 100 and 1.',
    });
    expect(far?.isFar).toBe(true);
    expect(far?.text).toContain('The difference is large (11 % less): ');
  });
});

test('the columns of the chart have the count of each run at each change', () => {
  const one = [
    { at: T0, count: 4 },
    { at: at(30), count: 6 },
  ];
  const other = [
    { at: T0, count: 4 },
    { at: at(15), count: 5 },
  ];

  const [times, ...counts] = chartColumns([one, other, []], at(60));

  expect(times?.map((second) => (second ?? 0) - T0 / 1000)).toEqual([0, 15, 30, 60]);
  expect(counts).toEqual([
    [4, 4, 6, 6],
    [4, 5, 5, 5],
    [null, null, null, null],
  ]);
});
