import { describe, expect, it } from '@jest/globals';
import { shortTimes } from '../../src/cli/output/lines.js';
import { formatLocal } from '../../src/units/short-time.js';

const NOW = Date.parse('2026-01-01T12:00:00Z');

describe('formatLocal', () => {
  it.each([
    ['2026-01-01T00:00:00.988Z', '00:00:00'],
    ['2025-12-31T23:59:59Z', 'Dec 31, 23:59:59'],
    ['2026-01-02T00:00:00Z', 'Jan 2, 00:00:00'],
  ])('at noon of January 1, %s is %s', (time, text) => {
    expect(formatLocal(Date.parse(time), NOW)).toBe(text);
  });
});

describe('shortTimes', () => {
  it('shortens each time of a sentence, and nothing else', () => {
    expect(
      shortTimes('no answer since 2026-01-01T11:16:24.988Z, 3 times since 2025-12-31T00:00:00Z: 503', NOW),
    ).toBe('no answer since 11:16:24, 3 times since Dec 31, 00:00:00: 503');
  });
});
