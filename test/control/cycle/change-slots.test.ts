import { describe, expect, it } from '@jest/globals';
import { createChangeSlots } from '../../../src/control/cycle/change.js';
import { settle } from '../../support/manual-clock.js';
import { gate } from '../controller-fixture.js';

const steady = (): Promise<void> => Promise.resolve();

describe('createChangeSlots', () => {
  it('allows 10 concurrent changes, and the 11th after one has ended', async () => {
    const slots = createChangeSlots(steady);
    const releases = await Promise.all(Array.from({ length: 10 }, () => slots.take()));
    let isTaken = false;
    const next = slots.take().then(() => (isTaken = true));
    await settle();
    expect(isTaken).toBe(false);

    releases[0]?.();
    await next;

    expect(isTaken).toBe(true);
  });

  it('is idle only without a change, also while a change waits for the event loop', async () => {
    const { opened, open } = gate();
    const slots = createChangeSlots(() => opened);
    expect(slots.isIdle()).toBe(true);

    const taken = slots.take();
    await settle();
    expect(slots.isIdle()).toBe(false);

    open();
    (await taken)();
    expect(slots.isIdle()).toBe(true);
  });
});
