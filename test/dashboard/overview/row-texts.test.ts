import { describe, expect, it } from '@jest/globals';
import { replicasText, shorten, sparklineLabel } from '../../../src/dashboard/overview/row-texts.js';
import { rowOf } from '../../browser/support/answers.js';

describe('replicasText', () => {
  it.each([
    [4, 4, '4'],
    [4, 6, '4 to 6'],
    [4, null, '4'],
    [null, null, '–'],
    [null, 3, '– to 3'],
    [0, 1200, '0 to 1,200'],
  ])('says %p and %p as %s', (current, desired, text) => {
    expect(replicasText({ current, desired })).toBe(text);
  });
});

describe('sparklineLabel', () => {
  it('says the range, and that nothing is known', () => {
    expect(sparklineLabel(rowOf({ replicas: [null, 2, 7, 3, null] }))).toBe(
      'Replicas in the last two hours: between 2 and 7, from 2 to 3',
    );
    expect(sparklineLabel(rowOf({ replicas: [null, null] }))).toBe(
      'No replicas are known for the last two hours',
    );
  });
});

describe('shorten', () => {
  it.each([
    [89.356, 89.4],
    [99.96, 100],
    [1234.567, 1235],
    [0.012345, 0.0123],
    [-15.034, -15],
    [0, 0],
    [null, null],
  ])('makes %p of %p', (value, short) => {
    expect(shorten(value)).toBe(short);
  });
});
