import { describe, expect, it } from '@jest/globals';
import { sparklineOf } from '../../../src/dashboard/ui/sparkline-path.js';

const BOX = { width: 40, height: 20 };

describe('sparklineOf', () => {
  it.each([
    ['without values', [null, null], ''],
    ['of none', [], ''],
    ['of 0: at the bottom', [0, 0], 'M0 18H20V18H40'],
    ['of equal values: at the top', [3, 3], 'M0 2H20V2H40'],
    ['from 1 to 4: a quarter above the bottom', [1, 4], 'M0 14H20V2H40'],
    ['with a gap, which is no line', [0, null, 5, 5], 'M0 18H10M20 2H30V2H40'],
  ])('%s', (_name, values, path) => {
    expect(sparklineOf(values, null, BOX)).toEqual({ path, maximumY: null });
  });

  it.each([
    ['above the values, which use the space below it', [0, 2], 4, { path: 'M0 18H20V10H40', maximumY: 2 }],
    ['equal to the values: at the top', [5, 5], 5, { path: 'M0 2H20V2H40', maximumY: 2 }],
    ['below values that are from before it', [4, 0], 2, { path: 'M0 2H20V18H40', maximumY: 10 }],
    ['without values', [null], 5, { path: '', maximumY: null }],
  ])('draws a maximum %s', (_name, values, maximum, shape) => {
    expect(sparklineOf(values, maximum, BOX)).toEqual(shape);
  });
});
