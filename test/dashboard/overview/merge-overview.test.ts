import { describe, expect, it } from '@jest/globals';
import { keyOf, mergeOverview } from '../../../src/dashboard/overview/merge-overview.js';
import { overviewOf, rowOf, stateOf } from '../../browser/support/answers.js';

const A = rowOf({ name: 'a' });
const B = rowOf({ name: 'b' });
const C = rowOf({ name: 'c' });

function keysOf(rows: readonly { namespace: string; name: string }[]): readonly string[] {
  return rows.map(keyOf);
}

describe('mergeOverview', () => {
  const fleet = mergeOverview(null, overviewOf([A, C]));

  it('takes all rows of a complete answer, without news', () => {
    const next = mergeOverview(fleet, overviewOf([B]));

    expect([keysOf(next.rows), next.news]).toEqual([['shop/b'], []]);
  });

  it('keeps the same list if nothing has changed', () => {
    const next = mergeOverview(fleet, overviewOf([], { isComplete: false, revision: '2' }));

    expect(next.rows).toBe(fleet.rows);
    expect(next.facts.revision).toBe('2');
  });

  it('replaces, adds in order and removes rows, and keeps the others as they are', () => {
    const changed = { ...C, current: 9 };
    const next = mergeOverview(fleet, overviewOf([B, changed], { isComplete: false, removed: ['shop/a'] }));

    expect(keysOf(next.rows)).toEqual(['shop/b', 'shop/c']);
    expect(keysOf(next.news)).toEqual(['shop/b', 'shop/c']);
    const last = mergeOverview(next, overviewOf([{ ...B, changedAt: null }], { isComplete: false }));
    expect(last.rows[1]).toBe(changed);
  });

  it.each([
    ['a metric', { metric: null }, 0],
    ['the replicas', { current: 5 }, 1],
    ['the desired replicas', { desired: 5 }, 1],
    ['the cause', { state: stateOf('OK', { cause: 'scaled' }) }, 0],
    ['the state', { state: stateOf('Stabilizing') }, 1],
  ])('counts a row with a change of %s as %s news', (_name, change, count) => {
    const next = mergeOverview(fleet, overviewOf([{ ...A, ...change }], { isComplete: false }));

    expect(next.news).toHaveLength(count);
  });
});
