import { describe, expect, it } from '@jest/globals';
import { keepList } from '../../../src/control/cycle/observe.js';
import { aPod } from '../../support/builders.js';
import { Fixture } from '../fixture.js';

const [A, B, C] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];

describe('keepList', () => {
  it('returns the list before for the same elements in the same order', () => {
    const before = [A, B];

    expect(keepList(before, [A, B])).toBe(before);
  });

  it.each([
    ['no list before', undefined, [A, B]],
    ['another element', [A, C], [A, B]],
    ['another order', [B, A], [A, B]],
    ['an element more', [A], [A, B]],
    ['an element less', [A, B, C], [A, B]],
    ['an equal element that is not the same', [A, { ...B }], [A, B]],
  ])('returns the new list for %s', (_, before, list) => {
    expect(keepList(before, list)).toBe(list);
  });
});

describe('the pods of a snapshot', () => {
  it('are the same list in two cycles without a change, and another one after a change', async () => {
    const fixture = new Fixture();
    let listed = [aPod('web-0'), aPod('web-1')];
    Object.assign(fixture.cluster, { listPods: () => [...listed] });
    const pods = async () => (await fixture.cycle()).record.snapshot?.pods;

    const first = await pods();
    const second = await pods();
    listed = [aPod('web-0', { ready: false }), ...listed.slice(1)];
    const third = await pods();

    expect(first).toEqual([aPod('web-0'), aPod('web-1')]);
    expect(second).toBe(first);
    expect(third).toEqual(listed);
  });
});
