import { describe, expect, it } from '@jest/globals';
import {
  describeFlaps,
  describeLength,
  describeSaving,
  isWorthRaising,
  whyNotNotable,
} from '../../../src/backtest/compare/recommend.js';
import { figuresWith, conditionOf } from './figures-of.js';

const LAST = 'in the parts of the second half that were used neither to search nor to confirm the change';

describe('describeSaving', () => {
  it.each([
    [5, 1, 8.04, `expect 5.0 % fewer pod-hours (1.0 to 8.0 % depending on the part) ${LAST}`],
    [1, -2, 3, `expect 1.0 % fewer pod-hours (-2.0 to 3.0 % depending on the part) ${LAST}`],
    [
      -10,
      -12,
      -9,
      `expect 10.0 % more pod-hours (9.0 to 12.0 % depending on the part) ${LAST}; the change meets the condition, and the document does not`,
    ],
  ])('says what a saving of %s %% is, from %s to %s %%', (percent, lowest, highest, expected) => {
    expect(describeSaving({ percent, lowest, highest })).toBe(expected);
  });
});

describe('whyNotNotable', () => {
  it.each([
    [
      0.99,
      `no change saves at least 1 % of the pod-hours: the best one saves 0.99 % (-0.10 to 2.00 % depending on the part) ${LAST}`,
    ],
    [1, null],
    [-3, null],
  ])('of a saving of %s %% is %s', (percent, expected) => {
    expect(whyNotNotable({ percent, lowest: -0.1, highest: 2 })).toBe(expected);
  });
});

describe('what a recommendation adds', () => {
  it('names more flaps: 5, the document 1', () => {
    const current = figuresWith({ flaps: 1 });

    expect(describeFlaps({ current, changed: figuresWith({ flaps: 5 }) })).toEqual([
      'the change scales back and forth more often: it has 5 flaps, the document has 1',
    ]);
    expect(describeFlaps({ current, changed: current })).toEqual([]);
  });

  it('says what a load of less than two days cannot confirm', () => {
    expect(describeLength(86_400)).toEqual([
      'the load covers only 1d: the back-test confirms a change only if the load repeats at least every 12h',
    ]);
    expect(describeLength(2 * 86_400)).toEqual([]);
  });
});

describe('isWorthRaising', () => {
  const current = figuresWith({ thetaU: 1, podHours: 100 });

  it.each<[string, Parameters<typeof figuresWith>[0], boolean]>([
    ['halves theta_U within the budget', { thetaU: 0.5, podHours: 104 }, true],
    ['leaves a little more than half of it', { thetaU: 0.501, podHours: 104 }, false],
    ['costs a little more than the budget', { thetaU: 0.5, podHours: 104.1 }, false],
    ['has more changes than allowed', { thetaU: 0.5, podHours: 104, changes: 11 }, false],
  ])('%s', (_, figures, isWorth) => {
    const conditions = [conditionOf('changes<=10')];

    expect(isWorthRaising({ current, changed: figuresWith(figures) }, 4, conditions)).toBe(isWorth);
  });

  it.each([
    ['ten minutes of a pod in three days are missing', 0.02315, 10, true],
    ['less is missing', 0.02314, 10, false],
    ['the same share of fewer pods is missing', 0.02315, 9, false],
  ])('where %s, halves what is missing: %d %% of %d pods', (_, thetaU, averagePods, isWorth) => {
    const before = figuresWith({ thetaU, averagePods });

    expect(isWorthRaising({ current: before, changed: figuresWith({ thetaU: thetaU / 2 }) }, 4, [])).toBe(
      isWorth,
    );
  });

  it('is not if nothing is missing without the forecast', () => {
    const none = figuresWith({ thetaU: 0, podHours: 100 });

    expect(isWorthRaising({ current: none, changed: none }, 4, [])).toBe(false);
  });
});
