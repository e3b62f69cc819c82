import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  MAX_MILLI,
  addMilli,
  formatMilli,
  milliFromNumber,
  milliToNumber,
  parseQuantity,
} from '../../src/units/quantity.js';

describe('parseQuantity', () => {
  it.each([
    ['0', 0n],
    ['1', 1000n],
    ['500m', 500n],
    ['1.5', 1500n],
    ['.5', 500n],
    ['5.', 5000n],
    ['+3', 3000n],
    ['-3', -3000n],
    ['2k', 2_000_000n],
    ['1M', 10n ** 9n],
    ['1G', 10n ** 12n],
    ['1T', 10n ** 15n],
    ['1P', 10n ** 18n],
    ['1Ki', 1_024_000n],
    ['1.5Gi', 1_610_612_736_000n],
    ['1Mi', 2n ** 20n * 1000n],
    ['1Ti', 2n ** 40n * 1000n],
    ['1Pi', 2n ** 50n * 1000n],
    ['2e3', 2_000_000n],
    ['2E3', 2_000_000n],
    ['12e-1', 1200n],
    ['1E', MAX_MILLI],
    ['1e18', MAX_MILLI],
    ['0.1', 100n],
    ['0.3Ki', 307_200n],
  ])('reads %s as %s milli-units', (text, milli) => {
    expect(parseQuantity(text)).toBe(milli);
  });

  it.each([
    ['1000000n', 1n],
    ['1000001n', 2n],
    ['1n', 1n],
    ['1u', 1n],
    ['1000u', 1n],
    ['1001u', 2n],
    ['0.0001', 1n],
    ['-1n', -1n],
    ['1e-9', 1n],
    ['1e-999999999', 1n],
    ['0e-999999999', 0n],
  ])('rounds %s away from zero, to %s milli-units', (text, milli) => {
    expect(parseQuantity(text)).toBe(milli);
  });

  it.each([
    ['9223372036854775807m', MAX_MILLI],
    ['9223372036854775808m', MAX_MILLI],
    ['9223372036854775806m', MAX_MILLI - 1n],
    ['1Ei', MAX_MILLI],
    ['1e999999999', MAX_MILLI],
    ['-1e999999999', -MAX_MILLI],
  ])('saturates %s at 2^63-1', (text, milli) => {
    expect(parseQuantity(text)).toBe(milli);
  });

  it.each([
    '',
    ' ',
    '.',
    'm',
    '1 ',
    ' 1',
    '1K',
    '1ki',
    '1mi',
    '1kk',
    '1e',
    '1e1.5',
    '0x10',
    '1_000',
    'NaN',
    'Infinity',
    '1,5',
    '--1',
  ])('rejects %j', (text) => {
    expect(parseQuantity(text)).toBeNull();
  });

  it('rejects a string of 129 characters and accepts one of 128', () => {
    expect(parseQuantity('0'.repeat(128))).toBe(0n);
    expect(parseQuantity('0'.repeat(129))).toBeNull();
  });

  it('reads a plain number as it is printed', () => {
    expect(parseQuantity(2.5)).toBe(2500n);
    expect(parseQuantity(1e21)).toBe(MAX_MILLI);
    expect(parseQuantity(NaN)).toBeNull();
  });

  it('reads back the output of formatMilli', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: MAX_MILLI }),
        (milli) => parseQuantity(formatMilli(milli)) === milli,
      ),
      { seed: 1 },
    );
  });
});

describe('formatMilli', () => {
  it.each([
    [0n, '0'],
    [2000n, '2'],
    [1500n, '1500m'],
    [1n, '1m'],
  ])('writes %s milli-units as %s', (milli, text) => {
    expect(formatMilli(milli)).toBe(text);
  });
});

describe('milliFromNumber', () => {
  it.each([
    [0, 0n],
    [0.0004, 1n],
    [1e-300, 1n],
    [0.0014, 1n],
    [0.0016, 2n],
    [0.57, 570n],
    [1.1, 1100n],
    [-0.0004, 0n],
    [-2, -2000n],
    [9_007_199_254_740, 9_007_199_254_740_000n],
    [9_007_199_254_740_991, 9_007_199_254_740_991_000n],
    [-9_007_199_254_740_991, -9_007_199_254_740_991_000n],
    [1e300, MAX_MILLI],
    [Infinity, MAX_MILLI],
    [-Infinity, -MAX_MILLI],
  ])('converts %d to %s milli-units', (value, milli) => {
    expect(milliFromNumber(value)).toBe(milli);
  });

  it('returns the number of thousandths that a number was made from, up to 4e15', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 4e15 }),
        (milli) => milliFromNumber(milliToNumber(BigInt(milli))) === BigInt(milli),
      ),
      { seed: 1 },
    );
  });
});

describe('addMilli', () => {
  it('adds exactly, and saturates at 2^63-1 in both directions', () => {
    expect(addMilli(MAX_MILLI - 2n, 1n)).toBe(MAX_MILLI - 1n);
    expect(addMilli(MAX_MILLI, 1n)).toBe(MAX_MILLI);
    expect(addMilli(-MAX_MILLI, -1n)).toBe(-MAX_MILLI);
  });
});
