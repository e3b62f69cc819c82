import { describe, expect, it } from '@jest/globals';
import { estimateCapacity } from '../../../src/backtest/history/history-input.js';
import { createLoad } from '../../../src/backtest/simulation/load.js';
import { at, T0 } from '../../support/builders.js';

/** One value for each 15 s. */
const estimate = (values: readonly number[], ready: readonly (readonly [number, number])[]): unknown => {
  const times = Float64Array.from(values, (_, index) => T0 + index * 15_000);
  const observed = createLoad(times, Float64Array.from(values), at(15 * values.length));
  const history = {
    observed,
    load: observed,
    windowSeconds: 60,
    spanSeconds: 45,
    isRate: true,
    saturation: null,
  };
  return estimateCapacity(
    history,
    ready.map(([seconds, count]) => ({ at: at(seconds), count })),
  );
};
const many = (value: number): readonly number[] => Array.from({ length: 40 }, () => value);

describe('the capacity of a pod', () => {
  it('is the highest load of a ready pod that lasted for three steps, and its time', () => {
    expect(estimate([...many(20), 80, 80, 80, ...many(20)], [[0, 4]])).toEqual({ capacity: 20, at: at(600) });
    expect(estimate([...many(20), 80, 80, ...many(20)], [[0, 4]])).toEqual({ capacity: 5, at: at(0) });
  });

  it('does not rise because pods were removed, whose load is still in the window', () => {
    expect(
      estimate(
        [...many(40), ...many(20)],
        [
          [0, 8],
          [600, 4],
        ],
      ),
    ).toEqual({ capacity: 5, at: at(0) });
  });

  it('is unknown without load, values or ready pods', () => {
    expect([
      estimate(many(0), [[0, 4]]),
      estimate(many(NaN), [[0, 4]]),
      estimate(many(20), [[0, 0]]),
    ]).toEqual([null, null, null]);
  });
});
