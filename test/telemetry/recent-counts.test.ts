import { describe, expect, it } from '@jest/globals';
import { createChartPoints } from '../../src/telemetry/chart-points.js';
import { at } from '../support/builders.js';
import { decision, record } from './record-builder.js';

/** Replicas at the ends of the steps of 300 s up to the last cycle, `steps` of them. */
function recent(cycles: readonly (readonly [number, number | null])[], steps: number): readonly unknown[] {
  const points = createChartPoints();
  for (const [seconds, current] of cycles)
    points.add(
      record({
        at: at(seconds),
        ...(current === null
          ? { decision: null, snapshot: null }
          : { decision: decision({ currentReplicas: current }) }),
      }),
    );
  return points.recentReplicas('shop/web', { until: at(cycles.at(-1)?.[0] ?? 0), stepSeconds: 300, steps });
}

describe('the recent replicas', () => {
  it('are the last count of each step, oldest first', () => {
    expect(
      recent(
        [
          [0, 1],
          [299, 2],
          [300, 3],
          [599, 4],
          [600, 5],
        ],
        3,
      ),
    ).toEqual([2, 4, 5]);
  });

  it('are null before the first cycle and where the target could not be read', () => {
    expect(
      recent(
        [
          [300, 3],
          [600, null],
          [900, 4],
        ],
        4,
      ),
    ).toEqual([null, 3, null, 4]);
  });

  it('continue through a run of equal points, which is stored as two', () => {
    const run = Array.from({ length: 101 }, (_, index): [number, number] => [15 * index, 3]);

    expect(recent(run, 6)).toEqual([3, 3, 3, 3, 3, 3]);
    expect(recent(run, 8)).toEqual([null, null, 3, 3, 3, 3, 3, 3]);
  });

  it('use a point before the range only for a run that reaches into it', () => {
    const run = Array.from({ length: 101 }, (_, index): [number, number] => [15 * index, 3]);

    expect(recent([...run, [1515, 4]], 2)).toEqual([3, 4]);
  });

  it('are empty lists of null for an unknown scaler', () => {
    const points = createChartPoints();

    expect(points.recentReplicas('shop/none', { until: at(0), stepSeconds: 300, steps: 2 })).toEqual([
      null,
      null,
    ]);
  });
});
