import { describe, expect, it } from '@jest/globals';
import { DeadlineError } from '../../src/units/clock.js';
import {
  LightDeadline,
  LightSignal,
  onStop,
  type StopSignal,
  withAbortSignal,
} from '../../src/units/light-deadline.js';
import { ManualClock } from '../support/manual-clock.js';

function stopped(signal: StopSignal): Promise<unknown> {
  return new Promise((resolve) => onStop(signal, () => resolve(signal.reason)));
}

/** Returns `aborted` and `reason`. */
function stateOf({ aborted, reason }: StopSignal): Promise<readonly unknown[]> {
  return Promise.resolve([aborted, reason]);
}

describe('a LightDeadline', () => {
  it('leaves no timer, and is not aborted, once it has ended', () => {
    const clock = new ManualClock();
    const parent = new AbortController();
    const deadline = new LightDeadline(clock, { ms: 1000, parent: parent.signal });
    deadline.end();
    parent.abort('over');

    expect(clock.pending).toBe(0);
    expect(deadline.aborted).toBe(false);
  });

  it('is aborted with a DeadlineError after 1000 ms, not after 999', () => {
    const clock = new ManualClock();
    const deadline = new LightDeadline(clock, { ms: 1000 });

    clock.advance(999);
    expect(deadline.aborted).toBe(false);
    clock.advance(1);
    expect(deadline.reason).toEqual(new DeadlineError(1000));
  });

  it('is aborted with the reason of the parent, also of one that was aborted before', async () => {
    const clock = new ManualClock();
    const parent = new AbortController();
    const deadline = new LightDeadline(clock, { ms: 1000, parent: parent.signal });
    const stop = stopped(deadline);
    parent.abort('over');

    expect(await stop).toBe('over');
    const later = new LightDeadline(clock, { ms: 1000, parent: parent.signal });
    expect([later.aborted, later.reason]).toEqual([true, 'over']);
    deadline.end();
    later.end();
    expect(clock.pending).toBe(0);
  });
});

describe('onStop', () => {
  it('calls each listener once, and none that has unsubscribed', () => {
    const signal = new LightSignal();
    const heard: string[] = [];
    onStop(signal, () => heard.push('first'));
    onStop(signal, () => heard.push('second'))();
    signal.abort('one');
    signal.abort('two');

    expect(heard).toEqual(['first']);
    expect(signal.reason).toBe('one');
  });
});

describe('withAbortSignal', () => {
  it('aborts the AbortSignal of the work with the reason of a light signal', async () => {
    const signal = new LightSignal();
    const work = withAbortSignal(signal, stopped);
    signal.abort('over');

    expect(await work).toBe('over');
    expect(await withAbortSignal(signal, stateOf)).toEqual([true, 'over']);
  });

  it('passes an AbortSignal on', async () => {
    const { signal } = new AbortController();

    expect(await withAbortSignal(signal, (same) => Promise.resolve(same === signal))).toBe(true);
  });
});
