import { describe, expect, it } from '@jest/globals';
import { Busy, createPaced } from '../../../src/server/pacing/paced.js';
import type { Paced } from '../../../src/server/pacing/paced.js';
import { ManualClock, settle } from '../../support/manual-clock.js';

interface Fixture {
  readonly clock: ManualClock;
  readonly paced: Paced;
  /** Names of the pieces of work that have begun. */
  readonly begun: string[];
  /** Work that takes `ms`. */
  readonly work: (name: string, ms: number) => Promise<string>;
}

function fixture(mostWaiting?: number): Fixture {
  const clock = new ManualClock();
  const paced = createPaced(clock, mostWaiting);
  const begun: string[] = [];
  const work = (name: string, ms: number): Promise<string> =>
    paced.run(() => {
      begun.push(name);
      clock.advance(ms);
      return Promise.resolve(name);
    });
  return { clock, paced, begun, work };
}

describe('paced work', () => {
  it('needs no rest as long as less than 400 ms of it were done at once', async () => {
    const { begun, work, clock } = fixture();

    await Promise.all([work('a', 200), work('b', 200), work('c', 1)]);

    expect([begun, clock.pending]).toEqual([['a', 'b', 'c'], 0]);
  });

  it('rests twice as long as the work above 400 ms took', async () => {
    const { begun, work, clock } = fixture();
    await Promise.all([work('a', 350), work('b', 150)]);
    const last = work('c', 10);
    await settle();

    clock.advance(199);
    await settle();
    expect(begun).toEqual(['a', 'b']);
    clock.advance(1);
    await last;

    expect(begun).toEqual(['a', 'b', 'c']);
  });

  it('rests at most 1 s, however long the work took', async () => {
    const { begun, work, clock } = fixture();
    await work('a', 60_000);
    const last = work('b', 1);
    await settle();

    clock.advance(999);
    await settle();
    expect(begun).toEqual(['a']);
    clock.advance(1);
    await last;

    expect(begun).toEqual(['a', 'b']);
  });

  it('goes on after work that failed', async () => {
    const { paced, work } = fixture();
    const failed = paced.run(() => Promise.reject(new Error('no')));

    await expect(failed).rejects.toThrow('no');
    expect(await work('a', 1)).toBe('a');
  });

  it('rejects what comes while 2 are waiting, if 2 may wait', async () => {
    const { paced } = fixture(2);
    const never = new Promise<never>(() => undefined);
    void paced.run(() => never);
    await settle();

    const waiting = [1, 2].map(() => paced.run(() => Promise.resolve()));
    const rejected = paced.run(() => Promise.resolve());

    await expect(rejected).rejects.toThrow(Busy);
    expect(waiting.length).toBe(2);
  });
});
