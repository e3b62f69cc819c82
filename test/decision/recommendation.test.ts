import { describe, expect, it } from '@jest/globals';
import { recommendationAt } from '../../src/decision/recommendation.js';
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
