import { describe, expect, it } from '@jest/globals';
import { createBackgroundWork } from '../../../src/server/pacing/background-work.js';
import type { BackgroundWork } from '../../../src/server/pacing/background-work.js';
import { ManualClock } from '../../support/manual-clock.js';

describe('createBackgroundWork', () => {
  it('works for 2 ms at a time, in the order queued, and then rests for 4 times as long as it took', () => {
    const { goTo, done, queue } = start();
    for (const name of ['a', 'b', 'c', 'd']) queue(name, 1);

    goTo(0);
    expect(done).toEqual(['a', 'b']);
    goTo(9);
    expect(done).toEqual(['a', 'b']);
    goTo(10);

    expect(done).toEqual(['a', 'b', 'c', 'd']);
  });

  it('rests for 40 ms after work of 10 ms, also if the next work is queued later', () => {
    const { goTo, done, queue } = start();
    queue('a', 10);
    goTo(30);

    queue('b', 1);
    goTo(49);
    expect(done).toEqual(['a']);
    goTo(50);

    expect(done).toEqual(['a', 'b']);
  });

  it('rests for 250 ms at most, so that a process that was stopped for 60 s continues', () => {
    const { goTo, done, queue } = start();
    queue('a', 60_000);
    queue('b', 1);

    goTo(60_249);
    expect(done).toEqual(['a']);
    goTo(60_250);

    expect(done).toEqual(['a', 'b']);
  });

  it('does no work that was removed from the queue, and keeps no timer when the queue is empty', () => {
    const { goTo, done, queue, hasTimer } = start();
    const takeBack = queue('a', 1);
    queue('b', 1);

    takeBack();
    goTo(0);

    expect(done).toEqual(['b']);
    expect(hasTimer()).toBe(false);
  });

  it('does no work while connections arrive, except after 250 ms', () => {
    const { goTo, done, queue } = start({ connections: (ms) => ms });
    queue('a', 1);

    goTo(249);
    expect(done).toEqual([]);
    goTo(250);

    expect(done).toEqual(['a']);
  });
});

/** A clock that work advances, too; a timer takes at least 1 ms while connections arrive, as in Node. */
function start({ connections }: { readonly connections?: (ms: number) => number } = {}): {
  readonly goTo: (ms: number) => void;
  readonly done: string[];
  /** Queues work that takes N milliseconds. */
  readonly queue: (name: string, ms: number) => ReturnType<BackgroundWork['queue']>;
  readonly hasTimer: () => boolean;
} {
  let nowMs = 0;
  let timer: { readonly atMs: number; readonly callback: () => void } | null = null;
  const { now, random } = new ManualClock();
  const after = (ms: number, callback: () => void): (() => void) => {
    timer = { atMs: nowMs + (connections === undefined ? ms : Math.max(1, ms)), callback };
    return () => (timer = null);
  };
  const backgroundWork = createBackgroundWork({
    clock: { now, random, after, monotonicMs: () => nowMs },
    connections: () => connections?.(nowMs) ?? 0,
  });
  const done: string[] = [];
  return {
    goTo: (ms) => {
      for (let due = timer; due !== null && due.atMs <= ms; due = timer) {
        timer = null;
        nowMs = Math.max(nowMs, due.atMs);
        due.callback();
      }
      nowMs = Math.max(nowMs, ms);
    },
    done,
    queue: (name, ms) =>
      backgroundWork.queue(() => {
        done.push(name);
        nowMs += ms;
      }),
    hasTimer: () => timer !== null,
  };
}
