import { describe, expect, it } from '@jest/globals';
import { createSemaphore, mapAtOnce } from '../../src/units/semaphore.js';
import { settle } from '../support/manual-clock.js';

/** Acquires `count` times and records which calls got a permit. */
function acquireAll(permits: number, count: number) {
  const semaphore = createSemaphore(permits);
  const got: number[] = [];
  const releases: (() => void)[] = [];
  for (let index = 0; index < count; index += 1) {
    void semaphore.acquire().then((release) => {
      got.push(index);
      releases.push(release);
    });
  }
  return { got, releases, semaphore };
}

describe('a semaphore with 2 permits', () => {
  it('gives 2 of 4 callers a permit, and the others wait', async () => {
    const { got, semaphore } = acquireAll(2, 4);

    await settle();

    expect(got).toEqual([0, 1]);
    expect(semaphore.held()).toBe(2);
  });

  it('gives a released permit to the waiting callers in the order of their calls', async () => {
    const { got, releases } = acquireAll(2, 4);
    await settle();

    releases[1]?.();
    await settle();
    expect(got).toEqual([0, 1, 2]);
    releases[0]?.();
    await settle();
    expect(got).toEqual([0, 1, 2, 3]);
  });

  it('has both permits free again when all were released', async () => {
    const { got, releases, semaphore } = acquireAll(2, 3);
    await settle();
    releases[0]?.();
    await settle();
    releases[1]?.();
    releases[2]?.();
    expect(semaphore.held()).toBe(0);

    await semaphore.acquire();
    await semaphore.acquire();

    expect(got).toEqual([0, 1, 2]);
    expect(semaphore.held()).toBe(2);
  });

  it('counts a permit as held while it passes from one caller to the next', async () => {
    const semaphore = createSemaphore(1);
    const first = await semaphore.acquire();
    const second = semaphore.acquire();

    first();
    expect(semaphore.held()).toBe(1);

    (await second)();
    expect(semaphore.held()).toBe(0);
  });
});

describe('mapAtOnce', () => {
  it('maps 5 items, 2 at once, and returns the results in the order of the items', async () => {
    const started: number[] = [];
    const ends: (() => void)[] = [];
    const mapping = mapAtOnce([1, 2, 3, 4, 5], 2, async (item) => {
      started.push(item);
      await new Promise<void>((resolve) => ends.push(resolve));
      return item * 10;
    });
    await settle();
    const first = [...started];
    ends[1]?.();
    await settle();
    const second = [...started];
    for (let end = 0; end < 5; end += 1) {
      ends[end]?.();
      await settle();
    }

    expect(first).toEqual([1, 2]);
    expect(second).toEqual([1, 2, 3]);
    expect(await mapping).toEqual([10, 20, 30, 40, 50]);
  });
});
