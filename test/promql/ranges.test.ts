import { describe, expect, it } from '@jest/globals';
import { largestKnownRangeSeconds, largestRangeSeconds, selectedRanges } from '../../src/promql/ranges.js';

describe('largestRangeSeconds', () => {
  it.each([
    ['rate(x[1m])', 60],
    ['rate(x[1m]) / rate(y[90s])', 90],
    ['rate(x[1h30m])', 5400],
    ['rate(x[300])', 300],
    ['rate(x[1500ms])', 1.5],
    ['rate(x[1d] offset 1w)', 86_400],
    ['rate(x[5m + 1m])', 360],
    ['rate(x[2 * (5m - 1m)])', 480],
    ['rate(x[5m] @ 1700000000)', 300],
    ['max_over_time(rate(x[5m])[1h:1m])', 3600],
    ['max_over_time(x[10m:])', 600],
    ['max_over_time(x[1m:10s])', 300],
    ['x', 300],
    ['x offset 1h', 300],
    ['rate(x[1m]) * y', 300],
    ['sum(nosuch(x[1m]))', 60],
    ['vector(1)', 0],
    ['rate(x[$window])', 300],
    ['rate(x[step()])', 300],
    ['rate(x[1m]', 300],
    ['rate(x[10m]', 600],
    ['x{a="[1h]"} # [2h]', 300],
    [`rate(x{a="b]", c='[1h]', d=\`"[2h]\`}[1m]) # "`, 60],
    ['rate({"x.y", a!~"b"}[1m])', 60],
    ['rate(x{a="b}[1m])', 300],
    ['label_replace(rate(x[1m]), "a", "$1", "b", "(.*)\\\\.c")', 60],
  ])('returns the range in %j: %d s', (query, seconds) => {
    expect(largestRangeSeconds(query)).toBe(seconds);
  });
});

describe('largestKnownRangeSeconds', () => {
  it.each([
    ['sum(queue)', 0],
    ['sum(queue{job="a:b"}) / on () sum(limit)', 0],
    ['queue offset 1h', 0],
    ['rate(x[1m]) * y', 60],
    ['sum(job:requests:rate5m)', 300],
    ['rate(x[1m]) / job:requests:rate5m', 300],
    ['{__name__=~"queue.*"}', 300],
    ['sum(queue', 300],
    ['rate(x[$window])', 300],
    ['rate(x[10m]) + y', 600],
    ['vector(1)', 0],
  ])('returns the range in %j: %d s', (query, seconds) => {
    expect(largestKnownRangeSeconds(query)).toBe(seconds);
  });
});

describe('selectedRanges', () => {
  it.each([
    ['x', [['x', 0, 0]]],
    [
      'sum(rate(x{a="b"}[2m])) / sum(x{a="b"})',
      [
        ['x{a="b"}', 120, 0],
        ['x{a="b"}', 0, 0],
      ],
    ],
    ['rate(x[2m]) + rate(x[2m])', [['x', 120, 0]]],
    ['rate(x[5m] offset 1m)', [['x', 300, 60]]],
    ['x offset -30s', [['x', 0, -30]]],
    // The newest samples of a subquery are those of its innermost range.
    ['max_over_time(rate(x[1m] offset 10s)[10m:30s] offset 1m)', [['x', 60, 70]]],
    ['avg_over_time(x[10m:30s])', [['x', 600, 0]]],
    ['rate(x[5m] @ 1700000000) + y', [['y', 0, 0]]],
    ['vector(1)', []],
    ['rate(x[1m]', []],
  ])('returns selector, range and offset in %j', (query, expected) => {
    const selected = selectedRanges(query);

    expect(selected.map((one) => [one.selector.text, one.rangeSeconds, one.offsetSeconds])).toEqual(expected);
  });
});
