import { describe, expect, it } from '@jest/globals';
import { parseSeries } from '../../src/document-tests/parse-series.js';

describe('parseSeries', () => {
  it.each([
    ['5', [5]],
    ['0+10x3', [0, 10, 20, 30]],
    ['50-5x2', [50, 45, 40]],
    ['1x3', [1, 1, 1, 1]],
    ['0+0.1x3', [0, 0.1, 0.2, 0.3]],
    ['-1 1e3 .5', [-1, 1000, 0.5]],
    ['_ 1 _x2 stale', [null, 1, null, null, null]],
    ['NaN Inf -Inf', [NaN, Infinity, -Infinity]],
    ['100Mi 500m 2k 1.5Gi', [104_857_600, 0.5, 2000, 1_610_612_736]],
    ['100Mi+10Mix2 1Gix1', [104_857_600, 115_343_360, 125_829_120, 1_073_741_824, 1_073_741_824]],
    ['8Ti 1E2', [8 * 2 ** 40, 100]],
    ['  1\n  2  ', [1, 2]],
  ])('reads %j', (text, values) => {
    const parsed = parseSeries(text);

    if ('error' in parsed) throw new Error(parsed.error);
    const { length, at } = parsed.values;
    expect(Array.from({ length }, (_, index) => at(index))).toEqual(values);
  });

  it('has no value after the last one, and stores none: 100,000 values are two terms', () => {
    const parsed = parseSeries('0+1x99998 7');

    if ('error' in parsed) throw new Error(parsed.error);
    const { at } = parsed.values;
    expect([99_998, 99_999, 100_000].map((index) => at(index))).toEqual([99_998, 7, null]);
  });

  it.each([
    ['', 'has no value', 0],
    ['1 two', '"two", must consist of values', 2],
    ['1 2 0x999999999', 'more than 100000 values', 4],
    ['_x100001', 'more than 100000 values', 0],
    ['1 {{schema:1}}', 'histograms are not supported', 2],
    ['1+x5', '"1+x5"', 0],
    ['5Mb', '"5Mb", must consist of values such as 5, 100Mi,', 0],
    ['5mi', '"5mi", must consist', 0],
  ])('rejects %j', (text, error, offset) => {
    expect(parseSeries(text)).toEqual({ error: expect.stringContaining(error), offset });
  });
});
