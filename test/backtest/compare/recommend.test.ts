import { describe, expect, it } from '@jest/globals';
import { describeSaving } from '../../../src/backtest/compare/recommend.js';

const LAST = 'in the parts of the second half that neither the search nor the confirmation has seen';

describe('describeSaving', () => {
  it.each([
    [5, 1, 8.04, `expect 5.0 % fewer pod-hours (1.0 to 8.0 % in single parts) ${LAST}`],
    [1, -2, 3, `expect 1.0 % fewer pod-hours (-2.0 to 3.0 % in single parts) ${LAST}`],
    [
      0.99,
      0,
      2,
      `expect 0.99 % fewer pod-hours (0.00 to 2.00 % in single parts) ${LAST}: on its own no reason to change the document`,
    ],
    [
      -10,
      -12,
      -9,
      `expect 10.0 % more pod-hours (9.0 to 12.0 % in single parts) ${LAST}; it meets the condition, which the document misses`,
    ],
  ])('says what a saving of %s %% is, from %s to %s %%', (percent, lowest, highest, expected) => {
    expect(describeSaving({ percent, lowest, highest })).toBe(expected);
  });
});
