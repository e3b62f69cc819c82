import { describe, expect, it } from '@jest/globals';
import { NamedParts, NamedValues } from '../../../src/decision/samples/named-values.js';

const names = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `pod-${index}`);

describe.each([3, 32, 33, 500])('%d named values', (count) => {
  const all = names(count);
  const values = all.map((_, index) => index / 2);
  const map = new Map(all.map((name, index) => [name, index / 2]));

  it('are found in any order, and others are not', () => {
    const view = new NamedValues(all, values);

    for (const name of [...all, ...all.toReversed(), 'other', all[1] ?? '']) {
      expect([view.has(name), view.get(name)]).toEqual([map.has(name), map.get(name)]);
    }
  });

  it('have the contents of a map', () => {
    const view = new NamedValues(all, values);
    const seen: unknown[] = [];
    view.forEach((value, name) => seen.push([name, value]));

    expect(new Map(view)).toEqual(map);
    expect([view.size, [...view.keys()], [...view.values()]]).toEqual([count, all, values]);
    expect(seen).toEqual([...map]);
  });

  it('can be a part of the lists', () => {
    const view = new NamedValues(all, values, 1, 3);

    expect([...view]).toEqual([...map].slice(1, 3));
    expect([view.size, [...view.keys()], [...view.values()]]).toEqual([2, all.slice(1, 3), [0.5, 1]]);
    expect([view.get('pod-0'), view.get('pod-1'), view.get('pod-2'), view.get('pod-3')]).toEqual([
      undefined,
      0.5,
      1,
      undefined,
    ]);
  });

  it('by pod are the containers of each', () => {
    const parts = { pods: all, starts: [...all.keys(), count], containers: all.map(() => 'app') };
    const view = new NamedParts(parts, values);

    for (const pod of [...all, ...all.toReversed(), 'other']) {
      const value = map.get(pod);
      expect(view.has(pod)).toBe(value !== undefined);
      expect(view.get(pod)?.get('app')).toBe(value);
    }
    expect(Array.from(view, ([pod, one]) => [pod, one.get('app')])).toEqual([...map]);
    expect([view.size, [...view.keys()], [...view.values()].length]).toEqual([count, all, count]);
  });
});

describe('the sum of the values of pods', () => {
  const parts = { pods: ['web-0', 'web-1'], starts: [0, 2, 3], containers: ['app', 'proxy', 'app'] };
  const view = new NamedParts(parts, [1, 2, 4]);
  const double = (value: number | undefined): number => 2 * (value ?? NaN);
  const noTwo = (value: number | undefined): number | null => (value === 2 ? null : 1);

  it.each<[readonly string[], string | null, number | null]>([
    [[], null, 0],
    [['web-0'], null, 6],
    [['web-0'], 'proxy', 4],
    [['web-1'], null, 8],
    [['web-1'], 'proxy', null],
    [['web-2'], null, null],
    [['web-0', 'web-1'], null, 14],
    [['web-1', 'web-0'], 'app', 10],
    [['web-0', 'web-1'], 'proxy', null],
    [['web-0', 'web-2'], null, null],
  ])('of %j, container %s, is %s', (pods, container, sum) => {
    expect(view.sum(pods, container, double)).toBe(sum);
  });

  it('is null if one of them cannot be read', () => {
    expect(view.sum(['web-0'], null, noTwo)).toBeNull();
    expect(view.sum(['web-1'], null, noTwo)).toBe(1);
  });

  it.each<[readonly string[], number | null]>([
    [[], 0],
    [['b'], 2],
    [['c', 'a', 'b'], 14],
    [['a', 'd'], null],
  ])('with one value each, of %j, is %s', (names, sum) => {
    expect(new NamedValues(['a', 'b', 'c'], [4, 1, 2]).sum(names, double)).toBe(sum);
    expect(new NamedValues(['a', 'b', 'c', 'd'], [4, 1, 2, 8], 0, 3).sum(names, double)).toBe(sum);
  });
});
