import { describe, expect, it } from '@jest/globals';
import type { Memory } from '../../../src/control/memory/memory.js';
import { isStateChanged, storedStateOf } from '../../../src/control/memory/stored-memory.js';
import { at, buildScaler, settledMemory } from '../fixture.js';

const PLAIN = buildScaler().spec;

const INTENT = {
  epoch: '2/b',
  from: 5,
  to: 8,
  earlier: [],
  resourceVersion: '100',
  generation: 1,
  at: at(-20),
};

describe('isStateChanged', () => {
  const before = settledMemory({ lastScaleUp: at(-50), scaleEvents: [{ at: at(-50), change: 3 }] });

  it.each<[string, Partial<Memory>, boolean]>([
    ['nothing is', {}, false],
    ['an event has become too old', { state: { ...before.state, scaleEvents: [] } }, false],
    ['there are other recommendations', { state: { ...before.state, recommendations: null } }, false],
    ['there is another event', { state: { ...before.state, scaleEvents: [{ at: at(0), change: 1 }] } }, true],
    ['the last scale-down is', { state: { ...before.state, lastScaleDown: at(0) } }, true],
    ['it was set to zero by promscaler', { state: { ...before.state, zeroedBySelf: true } }, true],
    ['a change is unresolved', { unresolved: INTENT }, true],
    ['the target is another one', { uid: 'uid-2' }, true],
  ])('returns true if %s', (_, over, isChanged) => {
    expect(isStateChanged(before, { ...before, ...over }, PLAIN)).toBe(isChanged);
  });
});

describe('storedStateOf', () => {
  it('keeps the state before the change that is about to be made', () => {
    const memory = settledMemory({ lastScaleUp: at(-50) });

    expect(storedStateOf(memory, PLAIN, { uid: 'uid-1', intent: INTENT })).toEqual({
      uid: 'uid-1',
      lastScaleUp: at(-50),
      lastScaleDown: null,
      scaleEvents: [],
      zeroedBySelf: false,
      failingSince: new Map(),
      intent: INTENT,
    });
  });
});
