import { describe, expect, test } from '@jest/globals';
import type { SnapshotAnswer } from '../../../src/api/answers.js';
import { decideWith } from '../../../src/dashboard/scaler/what-if/decide-with.js';
import { withValue } from '../../../src/dashboard/scaler/what-if/fields.js';
import { compareDecisions, inputsWithin } from '../../../src/dashboard/scaler/what-if/past-decisions.js';
import type { PastInput } from '../../../src/dashboard/scaler/what-if/past-decisions.js';
import { cpuSnapshot } from '../../cli/live-service.js';

describe('compareDecisions', () => {
  const inputs = [20, 6, 8].map((maxReplicas, index): PastInput => {
    const at = `2026-01-01T10:0${index}:00Z`;
    const base = cpuSnapshot(140) as unknown as SnapshotAnswer;
    const scaler = withValue(base.scaler, ['spec', 'maxReplicas'], maxReplicas) as SnapshotAnswer['scaler'];
    const snapshot = { ...base, scaler };
    const desired = decideWith(snapshot, snapshot.scaler).decision?.desiredReplicas ?? 0;
    return { entry: { firstAt: at, lastAt: at, count: 1 }, desired, snapshot };
  });

  test('decides each input again: with 7 as the maximum, counts of 8, 6 and 8 are 7', () => {
    const document = withValue(inputs[0]?.snapshot.scaler, ['spec', 'maxReplicas'], 7);
    const compared = compareDecisions(inputs, document);

    expect(compared?.different.map(({ current, desired, other }) => [current, desired, other])).toEqual([
      [4, 8, 7],
      [4, 6, 7],
      [4, 8, 7],
    ]);
    expect([compared?.was, compared?.other]).toEqual([
      [6, 8],
      [7, 7],
    ]);
  });

  test('has the inputs of decisions that were in effect in the shown range', () => {
    const from = Date.parse('2026-01-01T10:01:00Z') / 1000;
    const within = (range: { readonly from: number; readonly to: number }) =>
      inputsWithin(inputs, range).map(({ entry }) => entry.firstAt.slice(14, 16));

    expect(within({ from, to: Infinity })).toEqual(['01', '02']);
    expect(within({ from: from + 1, to: Infinity })).toEqual(['02']);
    expect(within({ from: from - 60, to: from })).toEqual(['00', '01']);
    expect(within({ from: from - 60, to: from - 1 })).toEqual(['00']);
  });

  test('names no decision that stays the same, and nothing for a document with an error', () => {
    const same = withValue(inputs[0]?.snapshot.scaler, ['spec', 'maxReplicas'], 8);

    expect(compareDecisions(inputs, same)?.different.map(({ desired }) => desired)).toEqual([6]);
    expect(compareDecisions(inputs, withValue(same, ['spec', 'minReplicas'], 9))).toBeNull();
    expect(compareDecisions([], same)).toBeNull();
  });
});
