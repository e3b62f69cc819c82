import { describe, expect, it } from '@jest/globals';
import { isCareful, isConfirmed, savingOf } from '../../../src/backtest/compare/search-settings.js';
import { conditionOf, triedWith } from './figures-of.js';

const TWELVE = Array.from({ length: 12 }, () => 0);
/** Twelve values: these, and then the other one. */
const values = (first: readonly number[], other: number): readonly number[] =>
  TWELVE.map((_, index) => first[index] ?? other);

const own = triedWith(values([], 1), values([], 10));
const relative = { conditions: [conditionOf('theta_U<=document')], isMissed: false };

describe('isConfirmed', () => {
  it.each([
    ['is the same in each window', values([], 1), true],
    ['is a little more in each window', values([], 1.001), false],
    ['is less in three windows of twelve', values([0, 0, 0.5], 1), true],
    ['is less in two windows only, and more in one', values([0, 0, 1.001], 1), false],
    ['is less in a third window by what it is more in a fourth', values([0, 0, 0.5, 1.5], 1), true],
    ['is less in a third window, by less than it is more in a fourth', values([0, 0, 0.5, 1.51], 1), false],
  ])('asks for no more under-provisioning without the two best windows: it %s', (_, thetaU, expected) => {
    expect(isConfirmed({ changed: triedWith(thetaU, values([], 9)), original: own }, relative)).toBe(
      expected,
    );
  });

  it.each([
    ['the same in each window', values([], 10), true],
    ['fewer in two windows, and the same in the others', values([1, 1], 10), true],
    ['fewer in two windows, and more in one', values([1, 1, 10.01], 10), false],
    ['more in all', values([], 10.01), false],
  ])('asks for no more pod-hours without the two best windows: %s', (_, podHours, expected) => {
    expect(isConfirmed({ changed: triedWith(values([], 1), podHours), original: own }, relative)).toBe(
      expected,
    );
  });

  it('leaves out windows in which the load is unknown', () => {
    const partly = (thetaU: number) => ({
      ...triedWith(values([NaN, NaN], thetaU), values([], 10)),
      whole: own.whole,
    });

    expect(isConfirmed({ changed: partly(1), original: partly(1) }, relative)).toBe(true);
    expect(isConfirmed({ changed: partly(1.01), original: partly(1) }, relative)).toBe(false);
  });

  it.each([
    [1.79, true],
    [1.81, false],
  ])('meets a limit of 2 with a margin of 10 %%: %s', (thetaU, expected) => {
    const tried = triedWith(values([], thetaU), values([], 9));

    expect(
      isConfirmed(
        { changed: tried, original: own },
        { conditions: [conditionOf('theta_U<=2')], isMissed: false },
      ),
    ).toBe(expected);
  });

  it('may cost more if the document misses the condition', () => {
    const tried = triedWith(values([], 0.5), values([], 20));
    const conditions = [conditionOf('theta_U<=0.9')];

    expect(isConfirmed({ changed: tried, original: own }, { conditions, isMissed: true })).toBe(true);
    expect(isConfirmed({ changed: tried, original: own }, { conditions, isMissed: false })).toBe(false);
  });
});

describe('isCareful', () => {
  it.each([
    [1.04, true],
    [1.06, false],
  ])('allows 0.05 percentage points more theta_U than the 1 of the document: %s', (thetaU, expected) => {
    const tried = triedWith(values([], thetaU), values([], 9));

    expect(isCareful({ changed: tried, original: own }, relative.conditions)).toBe(expected);
  });
});

describe('savingOf', () => {
  it('is the mean share of the pod-hours', () => {
    const pair = (podHours: number) => ({
      changed: triedWith(values([], 1), values([], podHours)),
      original: own,
    });

    expect(savingOf([pair(9), pair(8)])).toBeCloseTo(0.15, 10);
    expect(savingOf([pair(11)])).toBeCloseTo(-0.1, 10);
  });
});
