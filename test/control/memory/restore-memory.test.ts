import { describe, expect, it } from '@jest/globals';
import { forNewTerm, freshMemory, lastScales } from '../../../src/control/memory/memory.js';
import { shiftMemory } from '../../../src/control/memory/clock-jump.js';
import type { Memory } from '../../../src/control/memory/memory.js';
import { isStateChanged, storedStateOf } from '../../../src/control/memory/stored-state.js';
import { restoreMemory } from '../../../src/control/memory/restore-memory.js';
import { EMPTY_STATE } from '../../../src/decision/snapshot.js';
import type { StoredEntry } from '../../../src/kubernetes/state/state-entry.js';
import type { StateReading } from '../../../src/kubernetes/state/state-store.js';
import { at, buildScaler, settledMemory } from '../world.js';

const PLAIN = buildScaler().spec;
const WITH_FALLBACK = buildScaler({ fallback: { afterSeconds: 180, replicas: 10 } }).spec;
const NOW = { now: at(0), spec: PLAIN };

const INTENT = {
  epoch: '2/b',
  from: 5,
  to: 8,
  earlier: [],
  resourceVersion: '100',
  generation: 1,
  at: at(-20),
};

function entry(over: Partial<StoredEntry> = {}): StoredEntry {
  return {
    epoch: '2/b',
    uid: 'uid-1',
    lastScaleUp: null,
    lastScaleDown: null,
    scaleEvents: [],
    zeroedBySelf: false,
    failingSince: new Map(),
    intent: null,
    ...over,
  };
}

function read(over: Partial<StoredEntry> = {}, isOwn = false): StateReading {
  return { kind: 'entry', text: 'new', entry: entry(over), isOwn, since: at(-5000) };
}

describe('restoreMemory at the first look of another term', () => {
  const known = { ...INTENT, at: at(3580) };
  const scaleEvents = [{ at: at(3550), change: 3 }];
  const earlier: Memory = {
    ...freshMemory(at(3600), 'uid-1'),
    state: { ...EMPTY_STATE, lastScaleUp: at(3550), lastScaleDown: at(2700), scaleEvents },
    unresolved: known,
    isUnsaved: true,
  };
  /** Stored before the clock was set an hour ahead. */
  const stored = { lastScaleUp: at(-50), lastScaleDown: at(-900), scaleEvents: [] };
  const now = { now: at(3600), spec: PLAIN };

  it('takes the later times, the union of the events and its own time of a change that both know', () => {
    const memory = restoreMemory(earlier, read({ ...stored, intent: INTENT }), now);

    expect(memory).toEqual({ ...earlier, stored: 'new', isRestored: true, assumedAt: at(-5000) });
  });

  it('knows of no open change when another replica has found out its result', () => {
    expect(restoreMemory(earlier, read(stored), now).unresolved).toBeNull();
  });

  it('believes the intent of another replica', () => {
    const theirs = { ...INTENT, epoch: '3/c' };

    expect(restoreMemory(earlier, read({ ...stored, intent: theirs }), now).unresolved).toBe(theirs);
  });

  it('takes what is stored of another target that has the name by now', () => {
    const memory = restoreMemory(earlier, read({ ...stored, uid: 'uid-2' }), now);

    expect(memory).toMatchObject({ uid: 'uid-2', unresolved: null, state: stored });
  });
});

describe('restoreMemory at the first look', () => {
  const unseen = freshMemory(at(-1000), null);

  it('is what is stored, with recommendations still to be seeded', () => {
    const scaleEvents = [{ at: at(-50), change: 3 }];
    const stored = { lastScaleUp: at(-50), lastScaleDown: at(-900), scaleEvents, zeroedBySelf: true };

    const memory = restoreMemory(unseen, read({ ...stored, intent: INTENT }), NOW);

    expect(memory).toMatchObject({ uid: 'uid-1', unresolved: INTENT, isRestored: true, stored: 'new' });
    expect(memory.state).toMatchObject({ ...stored, recommendations: null });
  });

  it.each<[string, StateReading]>([
    ['there is no store', { kind: 'off', text: null }],
    ['the store cannot be used', { kind: 'unusable', text: null, message: 'gone' }],
    ['nothing is stored and the time is not known', { kind: 'none', text: null, since: null }],
  ])('has scaled in both directions just now where %s', (_, reading) => {
    const { state, uid } = restoreMemory(unseen, reading, NOW);

    expect(state).toMatchObject({ lastScaleUp: at(0), lastScaleDown: at(0), recommendations: null });
    expect(uid).toBeNull();
  });

  it('has scaled when the ConfigMap was made where nothing is stored', () => {
    const { state } = restoreMemory(unseen, { kind: 'none', text: null, since: at(-70) }, NOW);

    expect(state).toMatchObject({ lastScaleUp: at(-70), lastScaleDown: at(-70) });
  });
});

describe('lastScales', () => {
  const unseen = freshMemory(at(-1000), null);
  const lastOf = (reading: StateReading) => lastScales(restoreMemory(unseen, reading, NOW));

  it.each<[string, StateReading]>([
    ['there is no store', { kind: 'off', text: null }],
    ['the store cannot be used', { kind: 'unusable', text: null, message: 'gone' }],
    ['nothing is stored', { kind: 'none', text: null, since: at(-70) }],
    ['nothing is stored and the time is not known', { kind: 'none', text: null, since: null }],
  ])('knows of none where %s, though windows run', (_, reading) => {
    expect(lastOf(reading)).toEqual({ up: null, down: null });
  });

  it('are those that are stored', () => {
    expect(lastOf(read({ lastScaleUp: at(-50), lastScaleDown: at(-900) }))).toEqual({
      up: at(-50),
      down: at(-900),
    });
  });

  it('are not where a window was made to begin when the ConfigMap was made', () => {
    expect(lastOf(read({ lastScaleUp: at(-50), lastScaleDown: at(-5000) }))).toEqual({
      up: at(-50),
      down: null,
    });
  });

  it('come from a store that could not be used at first, while windows run from the start on', () => {
    const scales = { lastScaleUp: at(-50), lastScaleDown: at(-900) };
    const blind = restoreMemory(unseen, { kind: 'unusable', text: null, message: 'gone' }, NOW);

    const seeing = restoreMemory(blind, read(scales), { now: at(15), spec: PLAIN });

    expect(seeing.state).toMatchObject({ lastScaleUp: at(0), lastScaleDown: at(0) });
    expect(lastScales(seeing)).toEqual({ up: at(-50), down: at(-900) });
    expect(storedStateOf(seeing, PLAIN, { uid: 'uid-1' })).toMatchObject(scales);
  });

  it('are kept with an assumed window through a term in which the store is read first', () => {
    const scales = { lastScaleUp: at(-50), lastScaleDown: at(-900) };
    const blind = restoreMemory(unseen, { kind: 'unusable', text: null, message: 'gone' }, NOW);
    const next = forNewTerm({ ...blind, uid: 'uid-1' }, at(10));

    const seeing = restoreMemory(next, read(scales), { now: at(15), spec: PLAIN });
    const shifted = shiftMemory(forNewTerm(seeing, at(20)), -60, at(20));

    expect(seeing.state).toMatchObject({ lastScaleUp: at(0), lastScaleDown: at(0) });
    expect(storedStateOf(seeing, PLAIN, { uid: 'uid-1' })).toMatchObject(scales);
    expect(lastScales(shifted)).toEqual({ up: at(-110), down: at(-960) });
  });

  it('stay through another term and a clock that was set', () => {
    const known = restoreMemory(unseen, read({ lastScaleUp: at(-50), lastScaleDown: at(-5000) }), NOW);

    const later = shiftMemory(forNewTerm(known, at(10)), -60, at(10));

    expect(lastScales(later)).toEqual({ up: at(-110), down: null });
  });
});

describe('restoreMemory later on', () => {
  const known: Memory = {
    ...settledMemory({
      lastScaleUp: at(-50),
      lastScaleDown: at(-90),
      scaleEvents: [{ at: at(-50), change: 3 }],
    }),
    stored: 'old',
  };

  it('is the same value while the spec is the same', () => {
    expect(restoreMemory(known, { kind: 'unusable', text: 'old', message: 'gone' }, NOW)).toBe(known);
  });

  it('takes of two times the later and of the events all', () => {
    const taken = restoreMemory(
      known,
      read({
        lastScaleUp: at(-10),
        lastScaleDown: at(-100),
        scaleEvents: [
          { at: at(-50), change: 3 },
          { at: at(-10), change: 1 },
        ],
      }),
      NOW,
    );

    expect(taken.state).toMatchObject({
      lastScaleUp: at(-10),
      lastScaleDown: at(-90),
      scaleEvents: [
        { at: at(-50), change: 3 },
        { at: at(-10), change: 1 },
      ],
    });
    expect(taken).toMatchObject({ stored: 'new', isUnsaved: true });
  });

  it('takes an intent over, and keeps its own window', () => {
    const own = { ...INTENT, epoch: '1/a', to: 3, at: at(-5) };

    const taken = restoreMemory({ ...known, unresolved: own }, read({ intent: INTENT }), NOW);

    expect(taken.unresolved).toBe(INTENT);
    expect(taken.state.lastScaleDown).toBe(at(-5));
  });

  it('leaves what it knows of another target', () => {
    const taken = restoreMemory(known, read({ uid: 'uid-0', lastScaleUp: at(-1) }), NOW);

    expect(taken).toEqual({ ...known, stored: 'new', isUnsaved: true });
  });

  it('learns nothing from what it has written itself, but that it is stored', () => {
    const unsaved = { ...known, isUnsaved: true };
    const same = { ...known.state, intent: null };

    expect(restoreMemory(unsaved, read(same, true), NOW)).toEqual({
      ...known,
      stored: 'new',
      isUnsaved: false,
    });
    expect(restoreMemory(unsaved, read({ ...same, intent: INTENT }, true), NOW).isUnsaved).toBe(true);
    expect(restoreMemory(unsaved, read({ ...same, scaleEvents: [] }, true), NOW).isUnsaved).toBe(true);
  });

  it('is to be stored again where the entry is gone', () => {
    const taken = restoreMemory(known, { kind: 'none', text: null, since: at(0) }, NOW);

    expect(taken).toEqual({ ...known, stored: null, isUnsaved: true });
  });
});

describe('since when metrics have failed', () => {
  const failing = (seconds: number, metric = 'External/load') => new Map([[metric, at(seconds)]]);
  const now = { now: at(0), spec: WITH_FALLBACK };

  it('is restored at the first look', () => {
    const memory = restoreMemory(freshMemory(at(-1000), null), read({ failingSince: failing(-170) }), now);

    expect(memory.state.failingSince).toEqual(failing(-170));
  });

  it.each([
    ['the earlier beginning that another replica saw', failing(-10), failing(-20), failing(-20)],
    ['our own where it is the earlier one', failing(-20), failing(-10), failing(-20)],
    ['our own of a metric that the other does not know', failing(-10), new Map(), failing(-10)],
    ['nothing of a metric that has a value for us', new Map(), failing(-20), new Map()],
  ])('is, later on, %s', (_, ours, theirs, expected) => {
    const taken = restoreMemory(settledMemory({ failingSince: ours }), read({ failingSince: theirs }), now);

    expect(taken.state.failingSince).toEqual(expected);
  });

  it('is taken from the store by a process that has not decided yet', () => {
    const undecided = settledMemory({ recommendations: null });

    expect(restoreMemory(undecided, read({ failingSince: failing(-20) }), now).state.failingSince).toEqual(
      failing(-20),
    );
  });

  it.each([
    ['a document with a fallback', WITH_FALLBACK, failing(-5), true],
    ['a document without', PLAIN, new Map(), false],
  ])('is stored, and a reason to store, for %s', (_, spec, stored, isChanged) => {
    const before = settledMemory();
    const after = settledMemory({ failingSince: failing(-5) });

    expect(storedStateOf(after, spec, { uid: 'uid-1' }).failingSince).toEqual(stored);
    expect(isStateChanged(before, after, spec)).toBe(isChanged);
    expect(isStateChanged(after, before, spec)).toBe(isChanged);
    expect(
      isStateChanged(after, { ...after, state: { ...after.state, failingSince: failing(-5) } }, spec),
    ).toBe(false);
  });

  it.each([
    ['what it knows', WITH_FALLBACK, failing(-5), false],
    ['something else', WITH_FALLBACK, new Map(), true],
    ['nothing, where nothing is to be stored', PLAIN, new Map(), false],
  ])('leaves nothing unsaved where its own entry has %s', (_, spec, failingSince, isUnsaved) => {
    const memory = { ...settledMemory({ failingSince: failing(-5) }), isUnsaved: true };

    expect(restoreMemory(memory, read({ failingSince }, true), { now: at(0), spec }).isUnsaved).toBe(
      isUnsaved,
    );
  });
});
