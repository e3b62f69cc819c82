import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EXACT_DIGITS, MOST_DIGITS, nearestNumber } from '../../../src/prometheus/answers/nearest-number.js';

/** Digits and the place of the decimal point, as text and as arguments. */
function both(all: string, decimals: number): { readonly text: string; readonly number: number } {
  const moreDigits = Math.max(0, all.length - EXACT_DIGITS);
  return {
    text: `${all}e-${decimals}`,
    number: nearestNumber(
      Number(all.slice(0, EXACT_DIGITS)),
      Number(all.slice(EXACT_DIGITS)),
      moreDigits,
      decimals,
    ),
  };
}

describe('nearestNumber', () => {
  const digits = fc
    .tuple(fc.bigInt(1n, 10n ** BigInt(MOST_DIGITS) - 1n), fc.integer({ min: 1, max: MOST_DIGITS }))
    .map(([number, length]) => String(number).slice(0, length));

  it('is the number that the language reads, to the last bit, or is not known', () => {
    fc.assert(
      fc.property(digits, fc.integer({ min: 0, max: 22 }), (all, decimals) => {
        const { text, number } = both(all, decimals);

        expect(Number.isNaN(number) || Object.is(number, Number(text))).toBe(true);
      }),
      { numRuns: 20_000 },
    );
  });

  it('is known for what the language writes with at most 22 decimals', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-5, max: 1e15, noNaN: true }), (value) => {
        const [whole = '', fraction = ''] = String(value).split('.');
        const { number } = both(`${whole}${fraction}`.replace(/^0+/, '') || '0', fraction.length);

        expect(number).toBe(value);
      }),
      { numRuns: 20_000 },
    );
  });

  it.each([
    ['halfway between two numbers', '9007199254740993', 0],
    ['halfway, with decimals', '45035996273704985', 1],
    ['almost halfway', '9007199254740992999', 3],
  ])('is not wrong %s', (_what, all, decimals) => {
    const { text, number } = both(all, decimals);

    expect([Number(text), NaN]).toContainEqual(number);
  });

  it('is not known with more than 22 decimals or 19 digits', () => {
    expect(nearestNumber(1, 0, 0, 22)).toBe(1e-22);
    expect(nearestNumber(1, 0, 0, 23)).toBeNaN();
    expect(nearestNumber(123456789012345, 6789, 4, 0)).toBe(Number('1234567890123456789'));
    expect(nearestNumber(123456789012345, 67890, 5, 0)).toBeNaN();
  });
});
