import { describe, expect, it } from '@jest/globals';
import { createWorkQueue } from '../../src/units/work-queue.js';
import { settle } from '../support/manual-clock.js';

/** Adds `count` items; the work of each lasts until its number is passed to `end`. */
function setUp(most: number, count: number) {
  const begun: number[] = [];
  const ends = new Map<number, () => void>();
  const queue = createWorkQueue<{ readonly number: number }>(most, async ({ number }) => {
    begun.push(number);
    await new Promise<void>((resolve) => ends.set(number, resolve));
  });
  for (let number = 0; number < count; number += 1) queue.add({ number });
  const end = async (number: number): Promise<void> => {
    ends.get(number)?.();
    await settle();
  };
  return { queue, begun, end };
}

describe('a work queue of at most 2 at a time', () => {
  it('begins nothing within `add`, and 2 of 4 items after it', async () => {
    const { begun } = setUp(2, 4);
    expect(begun).toEqual([]);

    await settle();

    expect(begun).toEqual([0, 1]);
  });

  it('begins the next item in the order of `add` whenever one has ended', async () => {
    const { begun, end } = setUp(2, 4);
    await settle();

    await end(1);
    expect(begun).toEqual([0, 1, 2]);
    await end(2);
    expect(begun).toEqual([0, 1, 2, 3]);
  });

  it('begins an item that is added after all others have ended', async () => {
    const { queue, begun, end } = setUp(2, 2);
    await settle();
    await end(0);
    await end(1);

    queue.add({ number: 2 });
    queue.add({ number: 3 });
    queue.add({ number: 4 });
    await settle();

    expect(begun).toEqual([0, 1, 2, 3]);
  });
});

it.each([1023, 1024, 1025, 3000])('a work queue begins each of %d items once, in order', async (count) => {
  const begun: number[] = [];
  const queue = createWorkQueue<{ readonly number: number }>(3, ({ number }) => {
    begun.push(number);
    return Promise.resolve();
  });
  const numbers = Array.from({ length: count }, (_, number) => number);
  for (const number of numbers) queue.add({ number });

  for (let turn = 0; turn < count && begun.length < count; turn += 1) await settle();

  expect(begun).toEqual(numbers);
});
