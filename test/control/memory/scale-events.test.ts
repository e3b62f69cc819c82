import { describe, expect, it } from '@jest/globals';
import { shiftMemory, watchWallClock } from '../../../src/control/memory/clock-jump.js';
import { forNewTerm } from '../../../src/control/memory/memory.js';
import type { Memory } from '../../../src/control/memory/memory.js';
import { restoreMemory } from '../../../src/control/memory/stored-memory.js';
import { storedStateOf } from '../../../src/control/memory/stored-memory.js';
import { resolveChange } from '../../../src/control/memory/unresolved-change.js';
import type { ScaleEvent } from '../../../src/decision/snapshot/snapshot.js';
import { clampFuture, readEntry, writeEntry } from '../../../src/kubernetes/state/state-entry.js';
import type { StoredState } from '../../../src/kubernetes/state/state-entry.js';
import type { StateReading } from '../../../src/kubernetes/state/state-store.js';
import { addSeconds, type Instant, instantFromMs } from '../../../src/units/time.js';
import { ManualClock } from '../../support/manual-clock.js';
import { stateOf } from '../../kubernetes/state/state-fixture.js';
import { at, buildScaler, settledMemory } from '../fixture.js';

const { spec } = buildScaler();

/** Returns what a process reads after `state` was written as JSON. */
function readingOf(state: StoredState, now: Instant, isOwn = false): StateReading {
  const text = writeEntry('1/a', state);
  const entry = readEntry(text);
  if ('problem' in entry) throw new Error(entry.problem);
  return { kind: 'entry', text, entry: clampFuture(entry, now), isOwn, since: at(-5000) };
}

function changesOf({ state }: Memory): readonly number[] {
  return state.scaleEvents.map(({ change }) => change);
}

const EVENTS: readonly ScaleEvent[] = [
  { at: at(-40), change: -4 },
  { at: at(-20), change: -2 },
];
const LED = settledMemory({ lastScaleUp: at(-900), lastScaleDown: at(-20), scaleEvents: EVENTS });
const STORED = stateOf({ lastScaleUp: at(-900), lastScaleDown: at(-20), scaleEvents: EVENTS });

describe('scale events after the wall clock was set and another term has begun', () => {
  it.each([6, 3600, -3600, 0.0004, 5.0004])('by %d s count once', (seconds) => {
    const now = addSeconds(at(0), seconds);
    const memory = forNewTerm(shiftMemory(LED, seconds, now), now);

    const restored = restoreMemory(memory, readingOf(STORED, now), { now, spec });

    expect(restored.state.scaleEvents.map(({ change }) => change)).toEqual([-4, -2]);
    expect(restored.state.scaleEvents.map((event) => Math.round((event.at - now) / 1000))).toEqual([
      -40, -20,
    ]);
  });

  it('count once if another replica has added one since', () => {
    const now = at(3600);
    const theirs = { ...STORED, scaleEvents: [...EVENTS, { at: at(3590), change: -1 }] };
    const memory = forNewTerm(shiftMemory(LED, 3600, now), now);

    expect(changesOf(restoreMemory(memory, readingOf(theirs, now), { now, spec }))).toEqual([-4, -2, -1]);
  });

  it('count once for a replica that has read them before another one has shifted them', () => {
    const now = at(3600);
    const shifted = storedStateOf(shiftMemory(LED, 3600, now), spec, { uid: 'uid-1' });

    const restored = restoreMemory(forNewTerm(LED, now), readingOf(shifted, now), { now, spec });

    expect(restored.state.scaleEvents.map((event) => event.at)).toEqual([at(3560), at(3580)]);
  });

  it('count once within the term that reads an entry of another replica', () => {
    const now = at(3600);
    const memory = { ...shiftMemory(LED, 3600, now), stored: 'old' };

    expect(changesOf(restoreMemory(memory, readingOf(STORED, now), { now, spec }))).toEqual([-4, -2]);
  });

  it('keep their own times if the entry is still the one that the last term knew, after a step back', () => {
    const now = at(-3600);
    const reading = readingOf(STORED, now);
    const led = { ...LED, stored: reading.text };

    const restored = restoreMemory(forNewTerm(shiftMemory(led, -3600, now), now), reading, { now, spec });

    expect(restored.state).toMatchObject({ lastScaleUp: at(-4500), lastScaleDown: at(-3620) });
    expect(restored.isUnsaved).toBe(true);
  });
});

describe('a scale event that is known from two sides', () => {
  const intent = {
    epoch: '1/a',
    from: 9,
    to: 5,
    earlier: [],
    resourceVersion: '100',
    generation: 1,
    at: at(-2),
  };
  const made = {
    ...LED,
    state: { ...LED.state, scaleEvents: [{ at: at(-1), change: -4, alsoAt: [at(-2)] }] },
  };

  it('counts once if another replica has resolved the intent of a change that this process has made', () => {
    const open = { ...LED, state: { ...LED.state, scaleEvents: [] }, unresolved: intent };
    const live = { specReplicas: 5, resourceVersion: '101', generation: 2 };
    const resolved = storedStateOf(resolveChange(open, live, at(30)), spec, { uid: 'uid-1' });

    const restored = restoreMemory(forNewTerm(made, at(60)), readingOf(resolved, at(60)), {
      now: at(60),
      spec,
    });

    expect(changesOf(restored)).toEqual([-4]);
  });

  it('counts once if this process finds the intent of its own change, which it could not store', () => {
    const reading = readingOf(stateOf({ scaleEvents: [], intent }), at(60));
    const live = { specReplicas: 5, resourceVersion: '101', generation: 2 };

    const restored = restoreMemory(forNewTerm(made, at(60)), reading, { now: at(60), spec });

    expect(changesOf(resolveChange(restored, live, at(60)))).toEqual([-4]);
  });

  it('counts once if more than 64 events were merged in the entry', () => {
    const many = Array.from({ length: 70 }, (_, index) => ({ at: at(index - 700), change: -1 }));
    const memory = { ...LED, state: { ...LED.state, scaleEvents: many } };
    const stored = storedStateOf(memory, spec, { uid: 'uid-1' });

    const restored = restoreMemory(forNewTerm(memory, at(0)), readingOf(stored, at(0)), { now: at(0), spec });

    expect(changesOf(restored).reduce((sum, change) => sum + change, 0)).toBe(-70);
  });

  it('counts twice if there were two changes of the same size, a second apart', () => {
    const other = stateOf({ scaleEvents: [{ at: at(-21), change: -2 }] });
    const restored = restoreMemory(forNewTerm(LED, at(0)), readingOf(other, at(0)), { now: at(0), spec });

    expect(changesOf(restored)).toEqual([-4, -2, -2]);
  });
});

describe('instants', () => {
  it('are whole milliseconds after a shift by a clock whose monotonic time is fractional', () => {
    const { now, random, after } = new ManualClock();
    let elapsedMs = 0.3;
    const wall = watchWallClock({ now, random, after, monotonicMs: () => elapsedMs }, () => undefined);
    elapsedMs = -7000.1234;
    const shifted = shiftMemory(LED, wall.setBySeconds(), at(8));

    const times = [shifted.state.lastScaleDown, ...shifted.state.scaleEvents.map((event) => event.at)];
    expect(times.every((time) => Number.isInteger(time))).toBe(true);
  });

  it('are whole milliseconds after an addition of 1.005 s', () => {
    expect(addSeconds(instantFromMs(0), 1.005)).toBe(1005);
    expect(addSeconds(instantFromMs(0), 0.0004)).toBe(0);
  });
});
