import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MilliSum } from '../../src/decision/proposals/arithmetic.js';
import { addMilli, milliFromNumber } from '../../src/units/quantity.js';

describe('MilliSum', () => {
  it('is the sum of the milli-units of each number, whether exact as a double or not', () => {
    const value = fc.oneof(
      fc.double({ min: 0, max: 3, noNaN: true }),
      fc.constantFrom(0, -0, 0.0001, 9_007_199_254_740, 9_007_199_254_741, 9e15, 1e300, Infinity),
    );
    fc.assert(
      fc.property(fc.array(value), (values) => {
        const sum = new MilliSum();
        values.forEach(sum.add);

        expect(sum.total).toBe(values.map(milliFromNumber).reduce(addMilli, 0n));
      }),
    );
  });
});
