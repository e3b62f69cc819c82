import { describe, expect, it } from '@jest/globals';
import { withoutChange } from '../../../src/control/memory/memory.js';
import { EMPTY_STATE } from '../../../src/decision/snapshot/snapshot.js';
import { at } from '../fixture.js';

describe('withoutChange', () => {
  it('keeps recommendations and failing metrics, and removes event, times and the ownership of a 0', () => {
    const before = {
      ...EMPTY_STATE,
      lastScaleUp: at(-50),
      lastScaleDown: at(-90),
      scaleEvents: [{ at: at(-50), change: 1 }],
    };
    const decided = {
      ...before,
      lastScaleDown: at(0),
      scaleEvents: [...before.scaleEvents, { at: at(0), change: -5 }],
      recommendations: [{ at: at(0), replicas: 0 }],
      failingSince: new Map([['External/load', at(0)]]),
      zeroedBySelf: true,
    };

    expect(withoutChange(decided, before, 0)).toEqual({
      ...before,
      recommendations: [{ at: at(0), replicas: 0 }],
      failingSince: new Map([['External/load', at(0)]]),
    });
  });
});
