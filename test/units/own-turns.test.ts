import { describe, expect, it } from '@jest/globals';
import { createOwnTurns } from '../../src/units/own-turns.js';
import { ManualClock, settle } from '../support/manual-clock.js';

describe('own turns', () => {
  it('resolve one per turn, in the order of the calls', async () => {
    const clock = new ManualClock();
    const takeTurn = createOwnTurns(clock);
    const resolved: number[] = [];
    for (const number of [1, 2, 3]) void takeTurn().then(() => resolved.push(number));
    await settle();
    const states = [[...resolved]];
    for (let turn = 0; turn < 3; turn += 1) {
      clock.advance(0);
      await settle();
      states.push([...resolved]);
    }

    expect(states).toEqual([[], [1], [1, 2], [1, 2, 3]]);
    expect(clock.pending).toBe(0);
  });

  it('begin again after a pause', async () => {
    const clock = new ManualClock();
    const takeTurn = createOwnTurns(clock);
    const first = takeTurn();
    await clock.advanceAndSettle(0);
    await first;
    let isResolved = false;
    void takeTurn().then(() => (isResolved = true));
    await settle();

    expect(isResolved).toBe(false);
    await clock.advanceAndSettle(0);
    expect(isResolved).toBe(true);
  });
});
