import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { recent, recentRecommendations, recommendationAt } from '../../src/decision/next-state.js';
import { at } from '../support/builders.js';

describe('recommendationAt', () => {
  it('is the same object for the same time and count, below 1000', () => {
    const first = recommendationAt(at(0), 999);

    expect(first).toEqual({ at: at(0), replicas: 999 });
    expect(recommendationAt(at(0), 999)).toBe(first);
    expect(recommendationAt(at(0), 1000)).not.toBe(recommendationAt(at(0), 1000));
  });

  it('is another one for another count or time, also for an earlier time', () => {
    const first = recommendationAt(at(15), 0);

    expect(recommendationAt(at(15), 1)).toEqual({ at: at(15), replicas: 1 });
    expect(recommendationAt(at(0), 0)).toEqual({ at: at(0), replicas: 0 });
    expect(recommendationAt(at(15), 0)).toEqual(first);
  });
});

describe('recentRecommendations', () => {
  const listOf = (seconds: readonly number[], replicas = 3) =>
    seconds.map((each) => recommendationAt(at(each), replicas));

  it('is one list for scalers with the same recommendations, however they are kept', () => {
    const history = listOf([0, 15]);
    const added = recommendationAt(at(30), 3);

    const first = recentRecommendations(history, added, at(15));

    expect(first).toEqual([
      { at: at(15), replicas: 3 },
      { at: at(30), replicas: 3 },
    ]);
    expect(recentRecommendations([...history], added, at(15))).toBe(first);
    expect(recentRecommendations(history, added, at(0))).toEqual([...history, added]);
    expect(recentRecommendations(history, null, at(15))).toEqual([history[1]]);
  });

  it('is another list if any recommendation, the start or the added one differs', () => {
    const history = [...listOf([0], 4), ...listOf([15])];
    const added = recommendationAt(at(30), 3);
    const first = recentRecommendations(history, added, at(0));

    expect(recentRecommendations([...listOf([0], 5), ...listOf([15])], added, at(0))[0]?.replicas).toBe(5);
    expect(recentRecommendations(history, added, at(0))).toEqual(first);
    expect(recentRecommendations(history, recommendationAt(at(45), 3), at(0)).at(-1)?.at).toBe(at(45));
    expect(recentRecommendations(history, added, at(1))).toHaveLength(2);
  });

  it('equals the list that is built for one scaler alone, for any histories in any order', () => {
    const pool = [0, 1, 2, 3].flatMap((seconds) =>
      [0, 1, 999, 1000].map((replicas) => ({ at: at(seconds), replicas })),
    );
    const one = fc.constantFrom(...pool);
    const call = fc.tuple(fc.array(one, { maxLength: 3 }), fc.option(one), fc.integer({ min: 0, max: 4 }));
    fc.assert(
      fc.property(fc.array(call, { maxLength: 30 }), (calls) => {
        for (const [entries, added, start] of calls)
          expect(recentRecommendations(entries, added, at(start))).toEqual(recent(entries, added, at(start)));
      }),
    );
  });
});
