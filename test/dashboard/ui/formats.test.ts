import { describe, expect, it } from '@jest/globals';
import {
  formatAge,
  formatCount,
  formatDistance,
  formatDuration,
  formatLatency,
  formatLeft,
  formatMetric,
  formatSince,
  parseTime,
  plural,
} from '../../../src/dashboard/ui/formats.js';
import { formatExact, zoneOf } from '../../../src/units/short-time.js';

describe('numbers', () => {
  it.each([
    [null, '–'],
    [0, '0'],
    [1200, '1,200'],
  ])('shows the count %p as %s', (count, text) => {
    expect(formatCount(count)).toBe(text);
  });

  it.each([
    [null, 'cpu', 'percent', '–'],
    [0, 'cpu', 'percent', '0 %'],
    [72.46, 'cpu', 'percent', '72.5 %'],
    [943_718_400, 'memory', 'average', '900Mi'],
    [943_718_400, 'app/memory', 'average', '900Mi'],
    [0.25, 'cpu', 'average', '0.25'],
    [80, 'http_requests', 'total', '80'],
  ] as const)('shows %p of %s in %s as %s', (value, name, unit, text) => {
    expect(formatMetric(value, { name, unit })).toBe(text);
  });

  it.each([
    [null, '–'],
    [0.0124, '12.4 ms'],
    [0.9994, '999.4 ms'],
    [0.9995, '1 s'],
    [20.5, '20.5 s'],
  ])('shows a latency of %p as %s', (seconds, text) => {
    expect(formatLatency(seconds)).toBe(text);
  });

  it.each([
    [0, '0 scalers'],
    [1, '1 scaler'],
    [5000, '5,000 scalers'],
  ])('counts %i as %s', (count, text) => {
    expect(plural(count, 'scaler')).toBe(text);
  });
});

describe('times', () => {
  it.each([
    [0, '0 s'],
    [59, '59 s'],
    [60, '1 min'],
    [250, '4 min 10 s'],
    [3600, '1 h'],
    [86_400 + 4 * 3600 + 1, '1 d 4 h'],
    [-5, '0 s'],
  ])('shows %i s as %s', (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });

  it.each([
    [-190_000, '3 min ago'],
    [7_300_000, 'in 2 h'],
    [-400, 'now'],
    [-59_400, '59 s ago'],
    [-60_000, '1 min ago'],
  ])('shows the distance of %i ms as %s', (ms, text) => {
    expect(formatDistance(1e12 + ms, 1e12)).toBe(text);
  });

  it.each([
    [-190_000, '3 min'],
    [-400, '0 s'],
    [1_000, '0 s'],
  ])('shows the age of %i ms as %s, also with a clock that is behind', (ms, text) => {
    expect(formatAge(1e12 + ms, 1e12)).toBe(text);
  });

  it.each([
    [190_000, '3 min left'],
    [1_000, '1 s left'],
  ])('shows %i ms before a time as %s', (ms, text) => {
    expect(formatLeft(1e12 + ms, 1e12)).toBe(text);
  });

  it('shows UTC, and knows what is no time', () => {
    const ms = Date.parse('2026-01-01T10:42:30Z');
    expect(formatExact(ms)).toMatch(/^(?:Dec 31|Jan 1), \d\d:\d\d:30 \S+, 2026-01-01 10:42:30 UTC$/);
    expect(formatExact(ms)).toContain(` ${zoneOf(ms)}, `);
    expect(formatSince(ms, ms + 300_000)).toMatch(/^\d\d:\d\d \(5 min\)$/);
    expect(formatSince(ms, ms + 3 * 86_400_000)).toMatch(/^(?:Dec 31|Jan 1) \(3 d\)$/);
    // The age makes the time of day unique within 24 hours, whatever the day.
    expect(formatSince(ms, ms + 86_399_000)).toMatch(/^\d\d:\d\d \(23 h\)$/);
    expect(formatSince(ms, ms + 86_400_000)).toMatch(/^(?:Dec 31|Jan 1) \(1 d\)$/);
    expect([parseTime('yesterday'), parseTime('2026-01-01T00:00:00Z')]).toEqual([null, 1_767_225_600_000]);
  });
});
