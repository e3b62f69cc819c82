import { describe, expect, it } from '@jest/globals';
import { createAdmission } from '../../../src/control/rounds/admission.js';
import { ManualClock } from '../../support/manual-clock.js';

/** Calls that wait, and the numbers of those that went on. */
function start(atOnce: number): {
  readonly clock: ManualClock;
  readonly call: (count: number) => void;
  /** Later turns of the event loop. */
  readonly turns: (() => void)[];
  readonly admitted: number[];
} {
  const clock = new ManualClock();
  const turns: (() => void)[] = [];
  const after = (_ms: number, callback: () => void): (() => void) => {
    turns.push(callback);
    return () => undefined;
  };
  const { now, monotonicMs, random } = clock;
  const admitted: number[] = [];
  const work = (number: number): void => void admitted.push(number);
  const admit = createAdmission({ now, monotonicMs, random, after }, { atOnce, work });
  let calls = 0;
  const call = (count: number): void => {
    for (let index = 0; index < count; index += 1) admit((calls += 1));
  };
  return { clock, call, turns, admitted };
}

describe('createAdmission', () => {
  it('admits as many as it may at once, without a timer', () => {
    const { call, turns, admitted } = start(3);
    call(3);
    expect([admitted, turns]).toEqual([[1, 2, 3], []]);
  });

  it('admits the others in order, three in each later turn', () => {
    const { call, turns, admitted } = start(3);
    call(8);
    const lengths = [admitted.length];
    for (let turn = turns.shift(); turn !== undefined; turn = turns.shift()) {
      turn();
      lengths.push(admitted.length);
    }
    expect([lengths, admitted]).toEqual([
      [3, 6, 8],
      [1, 2, 3, 4, 5, 6, 7, 8],
    ]);
  });

  it('fills the last turn with later callers', () => {
    const { call, turns, admitted } = start(3);
    call(8);
    call(2);
    const lengths = [admitted.length];
    for (let turn = turns.shift(); turn !== undefined; turn = turns.shift()) {
      turn();
      lengths.push(admitted.length);
    }
    expect([lengths, admitted]).toEqual([
      [3, 6, 9, 10],
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    ]);
  });

  it('does not let a later caller go before those that wait', () => {
    const { call, turns, admitted } = start(1);
    call(3);
    turns.shift()?.();
    call(1);
    expect([admitted, turns.length]).toEqual([[1, 2], 1]);
    for (let turn = turns.shift(); turn !== undefined; turn = turns.shift()) turn();
    expect(admitted).toEqual([1, 2, 3, 4]);
  });

  it.each([
    [19, 2],
    [20, 3],
  ])('restarts the count after %d ms without a caller: %d of 3 continue immediately', (ms, expected) => {
    const { clock, call, admitted } = start(2);
    call(1);
    clock.advance(ms);
    call(2);
    expect(admitted).toHaveLength(expected);
  });
});
