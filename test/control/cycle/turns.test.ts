import { describe, expect, it } from '@jest/globals';
import { createTurns } from '../../../src/control/cycle/turns.js';
import { settle } from '../../support/manual-clock.js';
import { gate } from '../controller-rig.js';

const steady = (): Promise<void> => Promise.resolve();

describe('createTurns', () => {
  it('allows 10 concurrent changes, and the 11th after one has ended', async () => {
    const turns = createTurns(steady);
    const releases = await Promise.all(Array.from({ length: 10 }, () => turns.take()));
    let isTaken = false;
    const next = turns.take().then(() => (isTaken = true));
    await settle();
    expect(isTaken).toBe(false);

    releases[0]?.();
    await next;

    expect(isTaken).toBe(true);
  });

  it('is idle only without a change, also while a change waits for the event loop', async () => {
    const { opened, open } = gate();
    const turns = createTurns(() => opened);
    expect(turns.isIdle()).toBe(true);

    const taken = turns.take();
    await settle();
    expect(turns.isIdle()).toBe(false);

    open();
    (await taken)();
    expect(turns.isIdle()).toBe(true);
  });
});
