import { describe, expect, it } from '@jest/globals';
import { jsonPatch, mergePatch, strategicMergePatch } from '../../../../src/simulator/api/writes/patch.js';
import type { Json } from '../../../../src/simulator/kinds/json.js';
import { podSpec } from '../../../../src/simulator/kinds/pod.js';

describe('a merge patch', () => {
  it.each<[Json, Json, Json]>([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: ['c', 'd'] }, { a: ['c', 'd'] }],
    [{ a: { b: 1, c: 2 } }, { a: { b: null, d: 3 } }, { a: { c: 2, d: 3 } }],
    [{}, { a: { b: null } }, { a: {} }],
  ])('changes %j with %j to %j', (target, patch, expected) => {
    expect(mergePatch(target, patch)).toEqual(expected);
  });
});

describe('a strategic merge patch', () => {
  it('merges containers and env by name, replaces args, and deletes on request', () => {
    const target = {
      containers: [
        { name: 'app', args: ['a', 'b'], env: [{ name: 'X', value: '1' }] },
        { name: 'side', image: 's' },
      ],
    };
    const patch = {
      containers: [
        { name: 'app', args: ['c'], env: [{ name: 'Y', value: '2' }] },
        { name: 'side', $patch: 'delete' },
      ],
    };

    expect(strategicMergePatch(podSpec, target, patch)).toEqual({
      containers: [
        {
          name: 'app',
          args: ['c'],
          env: [
            { name: 'X', value: '1' },
            { name: 'Y', value: '2' },
          ],
        },
      ],
    });
  });
});

describe('a JSON patch', () => {
  it('adds, removes, replaces, copies and moves, in lists too', () => {
    const patch = [
      { op: 'add', path: '/list/1', value: 'x' },
      { op: 'add', path: '/list/-', value: 'z' },
      { op: 'remove', path: '/list/0' },
      { op: 'replace', path: '/a~1b', value: 2 },
      { op: 'copy', from: '/a~1b', path: '/copied' },
      { op: 'move', from: '/old', path: '/new' },
      { op: 'test', path: '/copied', value: 2 },
    ];

    expect(jsonPatch({ list: ['a', 'b'], 'a/b': 1, old: true }, patch)).toEqual({
      list: ['x', 'b', 'z'],
      'a/b': 2,
      copied: 2,
      new: true,
    });
  });

  it.each([
    [{ op: 'test', path: '/a', value: 2 }, 422],
    [{ op: 'replace', path: '/b', value: 2 }, 422],
    [{ op: 'remove', path: '/b' }, 422],
    [{ op: 'add', path: '/b/c', value: 2 }, 422],
    [{ op: 'add', path: '/list/3', value: 2 }, 422],
    [{ op: 'invent', path: '/a' }, 400],
    [{ op: 'add', path: 'a', value: 2 }, 400],
  ])('rejects %j with %i', (operation, code) => {
    expect(() => jsonPatch({ a: 1, list: [1, 2] }, [operation])).toThrow(expect.objectContaining({ code }));
  });

  it('appends an item at index 2 of 2', () => {
    expect(jsonPatch({ list: [1, 2] }, [{ op: 'add', path: '/list/2', value: 3 }])).toEqual({
      list: [1, 2, 3],
    });
  });
});
