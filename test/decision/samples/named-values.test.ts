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

describe('the values of a pod', () => {
  const parts = { pods: ['web-0', 'web-1'], starts: [0, 2, 3], containers: ['app', 'proxy', 'app'] };
  const view = new NamedParts(parts, [1, 2, 4]);

  it.each<[string, string | null, readonly number[]]>([
    ['web-0', null, [1, 2]],
    ['web-0', 'proxy', [2]],
    ['web-1', null, [4]],
    ['web-1', 'proxy', []],
    ['web-2', null, []],
    ['web-0', 'app', [1]],
  ])('of %s, container %s, are %j', (pod, container, expected) => {
    const seen: number[] = [];

    const hasValue = view.each(pod, container, (value) => seen.push(value));

    expect(seen).toEqual(expected);
    expect(hasValue).toBe(expected.length > 0);
  });

  it('are those of its own 40 containers, not of another pod with the same names', () => {
    const containers = [...names(40), ...names(40)];
    const both = new NamedParts({ pods: ['a', 'b'], starts: [0, 40, 80], containers }, [
      ...containers.keys(),
    ]);

    expect([both.get('a')?.get('pod-39'), both.get('b')?.get('pod-0')]).toEqual([39, 40]);
  });
});
