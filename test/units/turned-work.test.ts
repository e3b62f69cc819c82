import { describe, expect, it } from '@jest/globals';
import { workInTurns } from '../../src/units/turned-work.js';
import { ManualClock, settle } from '../support/manual-clock.js';

/** A clock on which only tasks use time. `planned`: the turns that were requested. */
function busyClock() {
  const manual = new ManualClock();
  const planned: (() => void)[] = [];
  const clock = {
    usedMs: 0,
    now: manual.now,
    random: manual.random,
    monotonicMs: (): number => clock.usedMs,
    after: (_ms: number, callback: () => void): (() => void) => {
      planned.push(callback);
      return () => planned.splice(planned.indexOf(callback), 1);
    },
  };
  return { clock, planned };
}

/** Counts to `count`, and each step takes `ms`. */
function* countTo(
  count: number,
  { clock, ms, done }: { clock: { usedMs: number }; ms: number; done: { steps: number } },
): Generator<void, number> {
  while (done.steps < count) {
    done.steps += 1;
    clock.usedMs += ms;
    yield;
  }
  return done.steps;
}

describe('workInTurns', () => {
  it('finishes a task of 19 ms in the call', () => {
    const { clock, planned } = busyClock();

    const work = workInTurns(clock, countTo(19, { clock, ms: 1, done: { steps: 0 } }));

    expect(work.result()).toEqual({ value: 19 });
    expect(planned).toEqual([]);
  });

  it('does 20 steps of 1 ms in a turn, and resolves after the last turn', async () => {
    const { clock, planned } = busyClock();
    const done = { steps: 0 };
    const work = workInTurns(clock, countTo(45, { clock, ms: 1, done }));
    const counts = [done.steps];
    expect(work.result()).toBeNull();

    for (let turn = 0; turn < 2; turn += 1) {
      planned.shift()?.();
      counts.push(done.steps);
    }

    expect(counts).toEqual([20, 40, 45]);
    expect(await work.finished).toBe(45);
    expect(planned).toEqual([]);
  });

  it('does the rest now when it must finish, and cancels the turn that was planned', () => {
    const { clock, planned } = busyClock();
    const done = { steps: 0 };
    const work = workInTurns(clock, countTo(100, { clock, ms: 20, done }));
    const before = done.steps;

    expect(before).toBe(1);
    expect(work.finish()).toBe(100);

    expect(planned).toEqual([]);
    expect(done.steps).toBe(100);
    expect(work.result()).toEqual({ value: 100 });
  });

  it('passes on the error of the task, also from a later turn, without an unhandled rejection', async () => {
    const { clock } = busyClock();
    const work = workInTurns(
      clock,
      (function* (): Generator<void, number> {
        clock.usedMs += 20;
        yield;
        throw new Error('step 2');
      })(),
    );

    work.hurry();
    await settle();

    expect(() => work.result()).toThrow('step 2');
    expect(() => work.finish()).toThrow('step 2');
    await expect(work.finished).rejects.toThrow('step 2');
  });
});
