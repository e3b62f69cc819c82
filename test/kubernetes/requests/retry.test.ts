import { describe, expect, it } from '@jest/globals';

import { createRefusals } from '../../../src/kubernetes/requests/retry.js';
import { ManualClock } from '../../support/manual-clock.js';

/** Returns whether each 403 of a series is accepted; `waits`: the seconds before each but the first. */
function believed(waits: readonly number[]): readonly boolean[] {
  const clock = new ManualClock();
  const refusals = createRefusals(clock);
  const answers = [refusals.note()];
  for (const seconds of waits) {
    clock.advance(seconds * 1000);
    answers.push(refusals.note());
  }
  return answers;
}

describe('a 403', () => {
  it.each([
    [
      [5, 5, 5],
      [false, false, false, true],
    ],
    [
      [5, 5, 4.999],
      [false, false, false, false],
    ],
    [
      [5, 10],
      [false, false, false],
    ],
    [
      [5, 10, 0],
      [false, false, false, true],
    ],
    [
      [0, 0, 0, 0, 15],
      [false, false, false, false, false, true],
    ],
  ])('is accepted at the fourth try and after 15 s: tries after %p s', (waits, expected) => {
    expect(believed(waits)).toEqual(expected);
  });

  it('starts another series after an answer of another kind', () => {
    const clock = new ManualClock();
    const refusals = createRefusals(clock);
    for (const seconds of [0, 5, 5]) {
      clock.advance(seconds * 1000);
      refusals.note();
    }
    refusals.clear();
    clock.advance(5000);

    expect(refusals.note()).toBe(false);
  });

  it.each([0, 0.999])('that is not accepted yet is retried within 10 s, with random %p', (chance) => {
    const clock = new ManualClock();
    clock.chance = chance;
    const refusals = createRefusals(clock);
    let tries = 1;
    while (!refusals.note()) {
      const waitMs = refusals.retryMs();
      expect(waitMs).toBeLessThan(10_000);
      clock.advance(waitMs);
      tries += 1;
    }

    expect(clock.monotonicMs()).toBeLessThan(20_000);
    expect(tries).toBeLessThan(8);
  });
});
