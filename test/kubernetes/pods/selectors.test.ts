import { describe, expect, it } from '@jest/globals';

import {
  formatSelector,
  matchesSelector,
  parseSelector,
  selectorFromObject,
} from '../../../src/kubernetes/pods/selectors.js';

describe('selectorFromObject', () => {
  it('expands matchLabels and keeps matchExpressions', () => {
    expect(
      selectorFromObject({
        matchLabels: { app: 'web' },
        matchExpressions: [
          { key: 'tier', operator: 'NotIn', values: ['a', 'b'] },
          { key: 'canary', operator: 'DoesNotExist' },
        ],
      }),
    ).toEqual([
      { key: 'app', operator: 'In', values: ['web'] },
      { key: 'tier', operator: 'NotIn', values: ['a', 'b'] },
      { key: 'canary', operator: 'DoesNotExist', values: [] },
    ]);
  });

  it.each([
    [null],
    ['app=web'],
    [{ matchExpressions: [{ key: 'a', operator: 'In', values: [] }] }],
    [{ matchExpressions: [{ key: 'a', operator: 'Exists', values: ['x'] }] }],
    [{ matchExpressions: [{ key: 'a', operator: 'Like', values: ['x'] }] }],
    [{ matchExpressions: [{ operator: 'Exists' }] }],
  ])('is null for %j', (value) => {
    expect(selectorFromObject(value)).toBeNull();
  });
});

describe('parseSelector', () => {
  it.each([
    ['', []],
    ['app=web', [{ key: 'app', operator: 'In', values: ['web'] }]],
    [
      'a==1, b!=2',
      [
        { key: 'a', operator: 'In', values: ['1'] },
        { key: 'b', operator: 'NotIn', values: ['2'] },
      ],
    ],
    [
      'x.io/tier in (a, b),k notin (c)',
      [
        { key: 'x.io/tier', operator: 'In', values: ['a', 'b'] },
        { key: 'k', operator: 'NotIn', values: ['c'] },
      ],
    ],
    [
      'k,!l',
      [
        { key: 'k', operator: 'Exists', values: [] },
        { key: 'l', operator: 'DoesNotExist', values: [] },
      ],
    ],
    ['a=', [{ key: 'a', operator: 'In', values: [''] }]],
    ['in in (in)', [{ key: 'in', operator: 'In', values: ['in'] }]],
  ])('reads %j', (text, selector) => {
    expect(parseSelector(text)).toEqual(selector);
  });

  it.each(['a=1,', ',a=1', 'a>1', 'a in b', '=1', 'a=b c', 'a in (b', '!'])('is null for %j', (text) => {
    expect(parseSelector(text)).toBeNull();
  });
});

describe('matchesSelector', () => {
  it.each([
    ['app=web', true],
    ['app=api', false],
    ['tier=x', false],
    ['app!=api', true],
    ['tier!=x', true],
    ['app notin (web)', false],
    ['app', true],
    ['tier', false],
    ['!tier', true],
    ['!app', false],
    ['app in (api,web),!tier', true],
    ['app=web,tier', false],
    ['constructor', false],
    ['', true],
  ])('%j matches {app: web}: %p', (text, expected) => {
    const labels = Object.assign(Object.create(null) as Record<string, string>, { app: 'web' });

    expect(matchesSelector(parseSelector(text) ?? [], labels)).toBe(expected);
  });
});

describe('formatSelector', () => {
  it.each(['app=web', 'tier in (a,b)', 'tier notin (c)', 'canary', '!canary', 'app=web,tier notin (a,b),!x'])(
    'writes %s as it was read',
    (text) => {
      expect(formatSelector(parseSelector(text) ?? [])).toBe(text);
    },
  );
});
