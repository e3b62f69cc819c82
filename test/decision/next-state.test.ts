import { describe, expect, it } from '@jest/globals';
import { recent } from '../../src/decision/next-state.js';
import { at } from '../support/builders.js';

describe('recent', () => {
  const listOf = (...seconds: readonly number[]) => seconds.map((each) => ({ at: at(each), replicas: 3 }));

  it('keeps an entry of the start of the window, drops one of a millisecond before, in any order', () => {
    const entries = [...listOf(30, 0.999, 1), ...listOf(0)];

    expect(recent(entries, null, at(1))).toEqual(listOf(30, 1));
    expect(recent(entries, { at: at(45), replicas: 3 }, at(1))).toEqual(listOf(30, 1, 45));
  });

  it('is the same list if nothing is added and nothing dropped', () => {
    const entries = listOf(0, 15);

    expect(recent(entries, null, at(0))).toBe(entries);
    expect(entries).toEqual(listOf(0, 15));
  });
});
