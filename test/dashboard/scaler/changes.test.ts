import { describe, expect, test } from '@jest/globals';
import {
  changesInData,
  listChanges,
  markedChanges,
  nextChange,
} from '../../../src/dashboard/scaler/model/changes.js';
import { listTransitions } from '../../../src/dashboard/scaler/model/timeline.js';
import { decision, entry } from './decisions.js';

const stays = { kind: 'none', from: 4, to: 4, message: '' } as const;

describe('listChanges', () => {
  test('oldest first, with the first cycle of a row', () => {
    const down = { kind: 'patched', from: 6, to: 5, message: '' } as const;
    const list = listChanges([
      entry({ firstAt: '2026-01-01T10:10:00Z', lastAt: '2026-01-01T10:12:00Z', outcome: down }),
      entry({ firstAt: '2026-01-01T10:05:00Z', outcome: stays }),
      entry(),
    ]);
    expect(list.map(({ label, at, isApplied }) => [label, at, isApplied])).toEqual([
      ['4 → 6', '2026-01-01T10:00:00Z', true],
      ['6 → 5', '2026-01-01T10:10:00Z', true],
    ]);
    expect(list[1]?.second).toBe(Date.parse('2026-01-01T10:10:00Z') / 1000);
  });

  test('a wanted change that was prevented says why', () => {
    const [held] = listChanges([entry({ outcome: { kind: 'paused', from: 4, to: 6, message: 'x' } })]);
    expect(held).toMatchObject({ label: '4 → 6, paused', isApplied: false });
  });

  test('nothing for a row without a count or with a wrong time', () => {
    const unread = entry({ decision: null, outcome: { kind: 'none', from: null, to: null, message: '' } });
    expect(listChanges([unread, entry({ firstAt: 'soon' })])).toEqual([]);
  });

  test('an outcome without counts takes those of the decision', () => {
    const lost = entry({
      outcome: { kind: 'failed', from: null, to: null, message: '' },
      decision: decision(),
    });
    expect(listChanges([lost])[0]?.label).toBe('4 → 6, failed');
  });
});

describe('changesInData', () => {
  const data = { at: [10, 20, 30, 40, 50], currentReplicas: [2, 3, null, 5, 4] };

  test('two different points next to each other are a change; a gap between them is none', () => {
    expect(changesInData(data, 100).map(({ second, label }) => [second, label])).toEqual([
      [20, '2 → 3'],
      [50, '5 → 4'],
    ]);
  });

  test('only before the given time', () => {
    expect(changesInData(data, 50)).toHaveLength(1);
    expect(changesInData(data, 20)).toEqual([]);
  });
});

describe('markedChanges', () => {
  const up = { from: 2, to: 3, isApplied: true, at: '', isKept: true, label: '', reason: '' };
  const positionOf = (second: number): number => second;

  test('a change that is 11 pixels after the mark of a change of the same kind shares it, one at 12 has its own', () => {
    const changes = [
      { ...up, second: 100 },
      { ...up, second: 105, from: 3, to: 2 },
      { ...up, second: 111 },
      { ...up, second: 111, isApplied: false },
      { ...up, second: 112 },
    ];

    const marked = markedChanges(changes, { window: { from: 0, to: 200 }, positionOf, gap: 12 });

    expect(marked).toEqual(changes.filter((_, index) => index !== 2));
  });

  test('a change outside the window has no mark, and the first change inside has its own', () => {
    const changes = [95, 100, 120, 121].map((second) => ({ ...up, second }));

    const marked = markedChanges(changes, { window: { from: 100, to: 120 }, positionOf, gap: 12 });

    expect(marked.map(({ second }) => second)).toEqual([100, 120]);
  });
});

describe('nextChange', () => {
  const list = listChanges([
    entry({ firstAt: '1970-01-01T00:00:20Z' }),
    entry({ firstAt: '1970-01-01T00:00:10Z' }),
  ]);

  test.each([
    [10, 1, 20],
    [20, 1, undefined],
    [null, 1, undefined],
    [20, -1, 10],
    [10, -1, undefined],
    [null, -1, 20],
    [15, -1, 10],
  ] as const)('from %p in direction %d it is at %p', (from, direction, second) => {
    expect(nextChange(list, from, direction)?.second).toBe(second);
  });
});

describe('listTransitions', () => {
  const able = { type: 'AbleToScale', status: 'True', reason: 'SucceededGetScale', message: 'a' } as const;
  const failed = { type: 'AbleToScale', status: 'False', reason: 'FailedGetScale', message: 'b' } as const;

  test('newest first; another message alone is no transition', () => {
    const found = listTransitions([
      entry({ firstAt: '3', conditions: [{ ...failed, message: 'c' }] }),
      entry({ firstAt: '2', conditions: [failed] }),
      entry({ firstAt: '1', conditions: [able] }),
    ]).get('AbleToScale');
    expect(found?.map(({ at, from, to }) => [at, from?.status ?? null, to.status])).toEqual([
      ['2', 'True', 'False'],
      ['1', null, 'True'],
    ]);
  });

  test('a type that is absent for a while keeps its last status', () => {
    const found = listTransitions([
      entry({ firstAt: '3', conditions: [able] }),
      entry({ firstAt: '2', conditions: [] }),
      entry({ firstAt: '1', conditions: [able] }),
    ]).get('AbleToScale');
    expect(found).toHaveLength(1);
  });
});
