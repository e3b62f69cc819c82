import { describe, expect, it } from '@jest/globals';
import {
  reasonOf,
  replicasText,
  shorten,
  sparklineLabel,
} from '../../../src/dashboard/overview/row-texts.js';
import { AT, rowOf } from '../../browser/support/answers.js';

const LIMIT = { limit: 'stabilization', reason: 'the window is 300 s', until: AT } as const;

describe('reasonOf', () => {
  it('names the limit and when it ends', () => {
    expect(reasonOf(rowOf({ states: ['waiting'], message: 'waiting', limit: LIMIT }))).toEqual({
      title: 'Stabilization',
      text: 'the window is 300 s',
      until: AT,
    });
  });

  it('has the message of a failure instead of a limit, without the state that is next to it', () => {
    expect(reasonOf(rowOf({ states: ['failing', 'waiting'], message: 'no series', limit: LIMIT }))).toEqual({
      title: null,
      text: 'no series',
      until: null,
    });
  });

  it('is null if nothing is special', () => {
    expect(reasonOf(rowOf())).toBeNull();
  });
});

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
