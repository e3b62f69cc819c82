import { describe, expect, test } from '@jest/globals';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { ApiError } from '../../../src/dashboard/data/api-error.js';
import { readPastPoints, runPast } from '../../../src/dashboard/scaler/what-if/past-runs.js';
import { formatInstant, instantFromMs } from '../../../src/units/time.js';
import { documentOf, END, known, rpsScaler, snapshotOf } from './past-story.js';

describe('the points', () => {
  const at = [0, 15, 30].map((second) => formatInstant(instantFromMs((END + second) * 1000)));
  const history = {
    ...{ at, stepSeconds: null, currentReplicas: [4, 4, 4], readyPods: [4, 4, 4] },
    metrics: [{ type: 'External', metric: 'rps', unit: 'average', value: [7, 8, 9], target: [10, 10, 10] }],
  };

  test('have no value where the decision had partial data', async () => {
    const entry = (partial: string | null, from = 1, to = from) => ({
      ...{ firstAt: at[from], lastAt: at[to], decision: { metrics: [{ name: 'rps', partial }] } },
    });
    const api = {
      clock: SYSTEM_CLOCK,
      read: ({ path }: { readonly path: string }) =>
        Promise.resolve(
          path.includes('/history') ? history : { items: [entry('2 of 4 series', 1), entry(null, 2)] },
        ),
    } as unknown as Parameters<typeof readPastPoints>[0];

    const { points } = await readPastPoints(
      api,
      { namespace: 'shop', name: 'web' },
      { from: END + 1, to: Infinity },
      new AbortController().signal,
    );

    expect(points.metrics[0]?.value).toEqual([7, null, 9]);
  });

  const readSince = (seconds: number, older: () => Promise<unknown>): ReturnType<typeof readPastPoints> =>
    readPastPoints(
      {
        clock: SYSTEM_CLOCK,
        read: ({ path }: { readonly path: string }) =>
          path.includes('source=prometheus')
            ? older()
            : Promise.resolve(path.includes('/history') ? history : { items: [] }),
      } as unknown as Parameters<typeof readPastPoints>[0],
      { namespace: 'shop', name: 'web' },
      { from: END - seconds, to: Infinity },
      new AbortController().signal,
    );

  test.each([
    { range: '24 h', seconds: 86_400, stepSeconds: 300, isCut: false },
    { range: '7 d', seconds: 604_800, stepSeconds: 1200, isCut: true },
  ])(
    'of $range come from Prometheus: a run over them has 5 pods for a load of 48, later 6 for 56',
    async ({ seconds, stepSeconds, isCut }) => {
      const count = (seconds + 3600) / stepSeconds;
      const at = Array.from({ length: count }, (_, index) => END - (count - index) * stepSeconds);
      const older = {
        ...{ at: at.map((second) => formatInstant(instantFromMs(second * 1000))), stepSeconds },
        ...{ currentReplicas: at.map(() => 4), readyPods: at.map(() => 4) },
        metrics: [
          // Different values, because between equal ones no gap is possible.
          {
            ...history.metrics[0],
            value: at.map((_, index) => (index < count - 20 ? 12 : 14) + (index % 2) / 10),
            target: at.map(() => 10),
          },
        ],
      };

      const past = await readSince(seconds, () => Promise.resolve(older));
      const runs = await runPast(
        {
          points: past,
          snapshot: snapshotOf(rpsScaler(4)),
          document: documentOf(rpsScaler(8)),
          // The points in memory have another load.
          shown: { from: END - seconds, to: END - stepSeconds },
        },
        { clock: SYSTEM_CLOCK, signal: new AbortController().signal, onProgress: () => undefined },
      );

      const { applied, changed, unknownPercent, isCut: wasCut } = known(runs);
      expect([past.note, past.coarseSeconds, past.points.at.length]).toEqual([null, stepSeconds, count + 3]);
      expect([applied, changed].map(({ run }) => run?.replicas.map(({ count: pods }) => pods))).toEqual([
        [4],
        [5, 6],
      ]);
      expect([unknownPercent, wasCut]).toEqual([0, isCut]);
    },
  );

  test('that Prometheus does not return are missing, with the reason', async () => {
    const past = await readSince(86_400, () => Promise.reject(new ApiError('unavailable', 'no answer')));

    expect([past.note, past.points.at.length]).toEqual(['no answer', 3]);
  });
});
