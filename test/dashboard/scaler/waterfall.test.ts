import { describe, expect, test } from '@jest/globals';
import { buildWaterfall } from '../../../src/dashboard/scaler/model/decision-parts.js';
import { decision, metric } from './decisions.js';

const DONE = { kind: 'patched', from: 4, to: 6, message: '' } as const;

function rowsOf(...given: Parameters<typeof buildWaterfall>): readonly (readonly [string, number, number])[] {
  return buildWaterfall(...given).rows.map(({ label, from, to }) => [label, from, to]);
}

describe('buildWaterfall', () => {
  test('from the largest proposal through the limits to the result', () => {
    expect(rowsOf(decision(), DONE)).toEqual([
      ['Largest proposal', 0, 9],
      ['Maximum replicas', 9, 6],
      ['Result', 0, 6],
    ]);
    const { rows, current, top } = buildWaterfall(decision(), DONE);
    expect([current, top]).toEqual([4, 9]);
    expect(rows.map(({ reason }) => reason)).toEqual(['cpu', 'maxReplicas is 6', '4 → 6']);
  });

  test('every limit starts where the one before ended', () => {
    const limits = [
      { limit: 'stabilization', from: 2, to: 7, reason: 'a', until: '2026-01-01T10:05:00Z' },
      { limit: 'policy', from: 7, to: 8, reason: 'b', until: null },
      { limit: 'max_replicas', from: 8, to: 6, reason: 'c', until: null },
    ] as const;
    const rows = rowsOf(decision({ recommendedReplicas: 2, metrics: [metric('cpu', 2)], limits }), DONE);
    expect(rows.slice(1, 4)).toEqual([
      ['Stabilization', 2, 7],
      ['Scaling policy', 7, 8],
      ['Maximum replicas', 8, 6],
    ]);
  });

  test('several metrics with the largest proposal are named, at most three', () => {
    const metrics = ['a', 'b', 'c', 'd', 'e'].map((name) => metric(name, 9));
    expect(buildWaterfall(decision({ metrics }), DONE).rows[0]?.reason).toBe('a, b, c and 2 more');
  });

  test('a recommendation that differs from the largest proposal is by activation', () => {
    const asleep = decision({
      currentReplicas: 0,
      desiredReplicas: 0,
      recommendedReplicas: 0,
      metrics: [metric('queue', 1)],
      limits: [],
    });
    expect(rowsOf(asleep, null)).toEqual([
      ['Largest proposal', 0, 1],
      ['Activation', 1, 0],
      ['Result', 0, 0],
    ]);
    expect(buildWaterfall(asleep, null).top).toBe(1);
  });

  test('a short cut starts at the count that the bound changes', () => {
    const limits = [{ limit: 'min_replicas', from: 1, to: 3, reason: 'below', until: null }] as const;
    const short = decision({
      currentReplicas: 1,
      desiredReplicas: 3,
      recommendedReplicas: null,
      metrics: [],
      limits,
    });
    expect(rowsOf(short, null)).toEqual([
      ['Current', 0, 1],
      ['Minimum replicas', 1, 3],
      ['Result', 0, 3],
    ]);
  });

  test('without any value the count stays', () => {
    const blind = decision({
      recommendedReplicas: null,
      desiredReplicas: 4,
      metrics: [metric('cpu', null)],
      limits: [],
    });
    expect(rowsOf(blind, null)).toEqual([
      ['Current', 0, 4],
      ['Result', 0, 4],
    ]);
  });

  test('a prevented change ends at the count that stays', () => {
    const outcome = { kind: 'dry-run', from: 4, to: 6, message: 'spec.dryRun is true' } as const;
    expect(buildWaterfall(decision(), outcome).rows.at(-1)).toEqual({
      kind: 'step',
      label: 'Dry run',
      from: 6,
      to: 4,
      reason: 'spec.dryRun is true',
      until: null,
    });
  });

  test('a pause with its own count, and a server that sets another one, are the last step', () => {
    const byPause = { kind: 'patched', from: 4, to: 3, message: 'paused by annotation, kept at 3' } as const;
    expect(rowsOf(decision(), byPause).at(-1)).toEqual(['Changed', 6, 3]);
    const replaced = { kind: 'replaced', from: 4, to: 5, message: 'requested 6' } as const;
    expect(rowsOf(decision(), replaced).at(-1)).toEqual(['Replaced', 6, 5]);
  });
});
