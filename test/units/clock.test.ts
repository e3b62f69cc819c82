import { describe, expect, it } from '@jest/globals';
import { DeadlineError, sleep, periodicYield, withDeadline } from '../../src/units/clock.js';
import { ManualClock, settle } from '../support/manual-clock.js';

describe('sleep', () => {
  it('resolves after 1000 ms and not after 999, and leaves no timer', async () => {
    const clock = new ManualClock();
    let isOver = false;
    void sleep(clock, 1000).then(() => (isOver = true));

    await clock.advanceAndSettle(999);
    const before = isOver;
    await clock.advanceAndSettle(1);

    expect([before, isOver]).toEqual([false, true]);
    expect(clock.pending).toBe(0);
  });

  it('resolves at once when it is aborted, before or during the sleep', async () => {
    const clock = new ManualClock();
    const stop = new AbortController();
    const sleeping = sleep(clock, 1000, stop.signal);

    stop.abort();
    await sleeping;
    await sleep(clock, 1000, stop.signal);

    expect(clock.pending).toBe(0);
  });
});

describe('periodicYield', () => {
  it('continues at once for 19.9 ms, then yields to the event loop once', async () => {
    const clock = new ManualClock();
    const yieldIfDue = periodicYield(clock);
    const waits: number[] = [];
    for (const ms of [0, 19.9, 0.1, 0, 20]) {
      clock.advance(ms);
      const turn = yieldIfDue();
      waits.push(clock.pending);
      clock.advance(0);
      await turn;
    }

    expect(waits).toEqual([0, 0, 1, 0, 1]);
  });
});

/** Work that ends only when its signal is aborted, by throwing the reason. */
function endless(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = (): void => reject(signal.reason as Error);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end);
  });
}

describe('withDeadline', () => {
  it('returns the result of the work, and leaves no timer', async () => {
    const clock = new ManualClock();

    expect(await withDeadline(clock, { ms: 50 }, async () => Promise.resolve(7))).toBe(7);
    expect(clock.pending).toBe(0);
  });

  it('aborts the work after 50 ms and not after 49, with the time in the message', async () => {
    const clock = new ManualClock();
    let failure: unknown = null;
    void withDeadline(clock, { ms: 50 }, endless).catch((error: unknown) => (failure = error));

    await clock.advanceAndSettle(49);
    const before = failure;
    await clock.advanceAndSettle(1);

    expect(before).toBeNull();
    expect(failure).toBeInstanceOf(DeadlineError);
    expect(String(failure)).toBe('DeadlineError: timeout after 50 ms');
  });

  it('aborts the work with the reason of its parent, even if that was aborted before', async () => {
    const clock = new ManualClock();
    const parent = new AbortController();
    const reason = new Error('the service stops');
    const failures: unknown[] = [];
    const options = { ms: 50, parent: parent.signal };
    void withDeadline(clock, options, endless).catch((error: unknown) => failures.push(error));

    parent.abort(reason);
    void withDeadline(clock, options, endless).catch((error: unknown) => failures.push(error));
    await settle();

    expect(failures).toEqual([reason, reason]);
    expect(clock.pending).toBe(0);
  });
});
