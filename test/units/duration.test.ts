import { describe, expect, it } from '@jest/globals';
import { parseDuration } from '../../src/units/time.js';

describe('a duration', () => {
  it.each([
    ['0', 0],
    ['0s', 0],
    ['90s', 90],
    ['15m', 900],
    ['2h', 7200],
    ['7d', 604_800],
    ['1w', 604_800],
    ['1h30m', 5400],
    ['1w2d3h4m5s', 604_800 + 2 * 86_400 + 3 * 3600 + 4 * 60 + 5],
    ['999999999s', 999_999_999],
  ])('%s has %d s', (text, seconds) => {
    expect(parseDuration(text)).toBe(seconds);
  });

  it.each([
    '',
    '2',
    '1.5h',
    '-2h',
    '+2h',
    '30m1h',
    '1h1h',
    '1 h',
    '5M',
    '500ms',
    '1y',
    'soon',
    '9999999999s',
  ])('is not %j', (text) => {
    expect(parseDuration(text)).toBeNull();
  });

  it('is read in linear time', () => {
    expect(parseDuration('1'.repeat(1_000_000))).toBeNull();
  });
});
