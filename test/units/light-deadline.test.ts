import { describe, expect, it } from '@jest/globals';
import { DeadlineError } from '../../src/units/clock.js';
import {
  LightSignal,
  onStop,
  type StopSignal,
  withAbortSignal,
  withLightDeadline,
} from '../../src/units/light-deadline.js';
import { ManualClock } from '../support/manual-clock.js';

function stopped(signal: StopSignal): Promise<unknown> {
  return new Promise((resolve) => onStop(signal, () => resolve(signal.reason)));
}

/** Returns `aborted` and `reason`. */
function stateOf({ aborted, reason }: StopSignal): Promise<readonly unknown[]> {
  return Promise.resolve([aborted, reason]);
}

describe('withLightDeadline', () => {
  it('returns the result of the work and leaves no timer', async () => {
    const clock = new ManualClock();

    expect(await withLightDeadline(clock, { ms: 1000 }, () => Promise.resolve(7))).toBe(7);
    expect(clock.pending).toBe(0);
  });

  it('stops the work with a DeadlineError after 1000 ms, not after 999', async () => {
    const clock = new ManualClock();
    let reason: unknown = 'none';
    const work = withLightDeadline(clock, { ms: 1000 }, async (signal) => {
      reason = await stopped(signal);
    });

    clock.advance(999);
    await Promise.resolve();
    expect(reason).toBe('none');
    clock.advance(1);
    await work;
    expect(reason).toEqual(new DeadlineError(1000));
  });

  it('stops the work with the reason of the parent, also of one that was aborted before', async () => {
    const clock = new ManualClock();
    const parent = new AbortController();
    const work = withLightDeadline(clock, { ms: 1000, parent: parent.signal }, stopped);
    parent.abort('over');

    expect(await work).toBe('over');
    const after = await withLightDeadline(clock, { ms: 1000, parent: parent.signal }, stateOf);
    expect(after).toEqual([true, 'over']);
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
