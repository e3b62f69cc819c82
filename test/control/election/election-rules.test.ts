import { describe, expect, it } from '@jest/globals';
import {
  isWithin,
  mayAcquire,
  momentOf,
  observeLease,
  releasedSpec,
  renewedSpec,
  retryDelayMs,
  acquiredSpec,
} from '../../../src/control/election/election-rules.js';
import type { LeaseObservation } from '../../../src/control/election/election-rules.js';
import { watchLoopLag } from '../../../src/control/election/loop-lag.js';
import type { LeaseSpec } from '../../../src/kubernetes/lease.js';
import { ManualClock } from '../../support/manual-clock.js';
import { TIMES } from './candidates.js';
import { at } from '../fixture.js';

const SPEC: LeaseSpec = {
  holderIdentity: 'other',
  leaseDurationSeconds: 15,
  acquireTime: '2026-01-01T00:00:00.000000Z',
  renewTime: '2026-01-01T00:00:00.000000Z',
  leaseTransitions: 4,
};

const seenAt = (atMs: number, spec: Partial<LeaseSpec> = {}): LeaseObservation => ({
  rawSpec: JSON.stringify({ ...SPEC, ...spec }),
  spec: { ...SPEC, ...spec },
  atMs,
});

describe('mayAcquire', () => {
  it.each([
    [{}, 14_999, false],
    [{}, 15_000, true],
    [{ leaseDurationSeconds: 1 }, 999, false],
    [{ leaseDurationSeconds: 1 }, 1000, true],
    [{ leaseDurationSeconds: null }, 14_999, false],
    [{ leaseDurationSeconds: null }, 15_000, true],
    [{ leaseDurationSeconds: 0 }, 14_999, false],
    [{ holderIdentity: '' }, 0, true],
    [{ holderIdentity: 'me' }, 0, true],
  ])('returns for %j, seen for %s ms: %s', (spec, ms, expected) => {
    const question = { identity: 'me', nowMs: 5000 + ms, times: TIMES };

    expect(mayAcquire(seenAt(5000, spec), question)).toBe(expected);
  });

  it('returns yes if no Lease was ever seen', () => {
    expect(mayAcquire(null, { identity: 'me', nowMs: 0, times: TIMES })).toBe(true);
  });
});

describe('observeLease', () => {
  const object = {};

  it('keeps the first time while the spec is the same, and restarts with a changed one', () => {
    const first = observeLease(null, { ...seenAt(0), object }, 1000);
    const same = observeLease(first, { ...seenAt(0), object }, 9000);
    const other = observeLease(same, { ...seenAt(0), rawSpec: '{"x":1}', object }, 9000);

    expect([first.atMs, same.atMs, other.atMs]).toEqual([1000, 1000, 9000]);
  });
});

describe('the records', () => {
  it('of a new term increment the transitions, of a renewal change only the time, of a release empty the holder', () => {
    const taken = acquiredSpec(SPEC, { identity: 'me', now: at(60), times: TIMES });
    const renewed = renewedSpec(taken, at(62), TIMES);

    expect(taken).toEqual({
      holderIdentity: 'me',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:01:00.000000Z',
      renewTime: '2026-01-01T00:01:00.000000Z',
      leaseTransitions: 5,
    });
    expect(renewed).toEqual({ ...taken, renewTime: '2026-01-01T00:01:02.000000Z' });
    expect(releasedSpec(renewed, at(63))).toEqual({
      ...renewed,
      holderIdentity: '',
      leaseDurationSeconds: 1,
      renewTime: '2026-01-01T00:01:03.000000Z',
    });
  });
});

describe('isWithin', () => {
  it('takes the longer time of the two clocks: 4 s and 9 s are 9 s, 4 s and -56 s are 4 s', () => {
    const clock = new ManualClock();
    const since = momentOf(clock);
    const bounds = (): readonly boolean[] => [4000, 4001, 9000, 9001].map((ms) => isWithin(clock, since, ms));

    clock.advance(4000);
    const both = bounds();
    clock.jump(5);
    const forward = bounds();
    clock.jump(-65);

    expect(both).toEqual([false, true, true, true]);
    expect(forward).toEqual([false, false, false, true]);
    expect(bounds()).toEqual(both);
  });

  it('ends exactly when a sleep to the end ends, also where the difference of the times is rounded to less', () => {
    const clock = new ManualClock();
    clock.advance(6392.42);
    const since = momentOf(clock);
    const atEnd: unknown[] = [];

    clock.after(10_000, () => {
      atEnd.push(clock.monotonicMs() - since.monotonicMs < 10_000, isWithin(clock, since, 10_000));
    });
    clock.advance(20_000);

    expect(atEnd).toEqual([true, false]);
  });
});

describe('retryDelayMs', () => {
  it.each([
    [0, 2000],
    [0.5, 3200],
    [1, 4400],
  ])('returns for random %s %s ms', (chance, ms) => {
    const clock = new ManualClock();
    clock.chance = chance;

    expect(retryDelayMs(clock, TIMES)).toBeCloseTo(ms, 6);
  });
});

describe('watchLoopLag', () => {
  it('reports how late the last tick was, or how overdue the next one is, and resets with a punctual one', async () => {
    const clock = new ManualClock();
    const lag = watchLoopLag(clock);

    clock.advance(1000);
    const punctual = lag.ms();
    await clock.stall(1500);
    const late = lag.ms();
    clock.advance(499);
    const stillLate = lag.ms();
    clock.advance(1);

    expect([punctual, late, stillLate, lag.ms()]).toEqual([0, 1000, 1000, 0]);
    lag.stop();
    expect(clock.pending).toBe(0);
  });
});
