import { describe, expect, it } from '@jest/globals';
import { parseSampleValue } from '../../../src/prometheus/answers/sample-value.js';

describe('parseSampleValue', () => {
  it('reads the longest numbers that a float64 has, and the others as Prometheus writes them', () => {
    const longest = (5e-324).toFixed(100);

    expect(parseSampleValue(`0.${'0'.repeat(323)}5`)).toBe(5e-324);
    expect(parseSampleValue(`-1${'0'.repeat(308)}`)).toBe(-1e308);
    expect(parseSampleValue(longest)).toBe(0);
    expect(['1.', '.5', '+1e+21', '-1.5E-3', 'NaN', '+Inf', 'Inf', '-Inf'].map(parseSampleValue)).toEqual([
      1,
      0.5,
      1e21,
      -0.0015,
      NaN,
      Infinity,
      Infinity,
      -Infinity,
    ]);
  });

  it.each(['', ' ', '.', '+', '1e', 'e5', '0x10', '1..2', '1 ', '--1', 'infinity', '.e1'])(
    'returns null for %j',
    (text) => {
      expect(parseSampleValue(text)).toBeNull();
    },
  );

  it('accepts at most 400 digits', () => {
    expect(parseSampleValue('1'.repeat(300).padEnd(400, '.').slice(0, 301))).toBeCloseTo(
      Number('1'.repeat(300)),
    );
    expect(parseSampleValue('0'.repeat(400))).toBe(0);
    expect(parseSampleValue('0'.repeat(401))).toBeNull();
  });

  it('does not backtrack over 5 million digits', () => {
    expect(parseSampleValue(`${'1'.repeat(5_000_000)}x`)).toBeNull();
    // Each digit may belong to the integer or to the fraction: 2^n or n^2 ways for a backtracking expression.
    expect(parseSampleValue(`${'1'.repeat(399)}x`)).toBeNull();
  });
});
