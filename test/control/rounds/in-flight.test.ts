import { describe, expect, it } from '@jest/globals';
import { createInFlight } from '../../../src/control/rounds/in-flight.js';

/** Notes whether the promise has resolved. */
async function isResolved(promise: Promise<void>): Promise<boolean> {
  let resolved = false;
  void promise.then(() => (resolved = true));
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  return resolved;
}

describe('createInFlight', () => {
  it('waits for nothing without work', async () => {
    expect(await isResolved(createInFlight().untilNone())).toBe(true);
  });

  it('waits until the last of 2 has ended, for all that wait', async () => {
    const inFlight = createInFlight();
    inFlight.begin();
    inFlight.begin();
    const waiting = [inFlight.untilNone(), inFlight.untilNone()];

    inFlight.end();
    const afterOne = await Promise.all(waiting.map(isResolved));
    inFlight.end();
    const afterBoth = await Promise.all(waiting.map(isResolved));

    expect([afterOne, afterBoth]).toEqual([
      [false, false],
      [true, true],
    ]);
  });

  it('waits again for work that begins later', async () => {
    const inFlight = createInFlight();
    inFlight.begin();
    inFlight.end();
    inFlight.begin();

    expect(await isResolved(inFlight.untilNone())).toBe(false);
  });
});
