import { expect, test } from '@jest/globals';
import { groupBy } from '../../src/units/maps.js';

test('groups keep the order of their first items, and the items their order', () => {
  const groups = groupBy(['b1', 'a1', 'b2', 'c1', 'a2'], ([letter]) => letter);

  expect([...groups]).toEqual([
    ['b', ['b1', 'b2']],
    ['a', ['a1', 'a2']],
    ['c', ['c1']],
  ]);
  expect(groupBy([], String).size).toBe(0);
});
