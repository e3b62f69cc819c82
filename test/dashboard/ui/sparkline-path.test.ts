import { describe, expect, it } from '@jest/globals';
import { sparklinePath } from '../../../src/dashboard/ui/sparkline-path.js';

const BOX = { width: 40, height: 20 };

describe('sparklinePath', () => {
  it.each([
    ['without values', [null, null], ''],
    ['of none', [], ''],
    ['of equal values: in the middle', [3, 3], 'M0 10H20V10H40'],
    ['from the bottom to the top', [1, 5], 'M0 18H20V2H40'],
    ['with a gap, which is no line', [1, null, 5, 5], 'M0 18H10M20 2H30V2H40'],
  ])('%s', (_name, values, path) => {
    expect(sparklinePath(values, BOX)).toBe(path);
  });
});
