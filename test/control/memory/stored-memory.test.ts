import { describe, expect, it } from '@jest/globals';
import { forNewTerm, freshMemory, lastScales } from '../../../src/control/memory/memory.js';
import { shiftMemory } from '../../../src/control/memory/clock-jump.js';
import type { Memory } from '../../../src/control/memory/memory.js';
import { isStateChanged, isStored, storedStateOf } from '../../../src/control/memory/stored-memory.js';
import { restoreMemory } from '../../../src/control/memory/stored-memory.js';
import { EMPTY_STATE } from '../../../src/decision/snapshot/snapshot.js';
import { storedMetricKey } from '../../../src/kubernetes/state/state-entry.js';
import type { StoredEntry } from '../../../src/kubernetes/state/state-entry.js';
import type { StateReading } from '../../../src/kubernetes/state/state-store.js';
import { stateOf } from '../../kubernetes/state/state-fixture.js';
import { at, buildScaler, settledMemory } from '../fixture.js';

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
  return { epoch: '2/b', absentSince: null, ...stateOf(), ...over };
}

function read(over: Partial<StoredEntry> = {}, isOwn = false, text = 'new'): StateReading {
  return { kind: 'entry', text, entry: entry(over), isOwn, since: at(-5000) };
}

describe('restoreMemory in the first cycle of another term', () => {
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

  it('uses the later times, the union of the events and its own time of a change that both know', () => {
    const memory = restoreMemory(earlier, read({ ...stored, intent: INTENT }), now);

    expect(memory).toEqual({ ...earlier, stored: 'new', isRestored: true, assumedAt: at(-5000) });
  });

  it('has no open change if another replica has resolved it', () => {
    expect(restoreMemory(earlier, read(stored), now).unresolved).toBeNull();
  });

  it('adopts the intent of another replica', () => {
    const theirs = { ...INTENT, epoch: '3/c' };

    expect(restoreMemory(earlier, read({ ...stored, intent: theirs }), now).unresolved).toBe(theirs);
  });

  it('uses the stored state of another target that has the name now', () => {
    const memory = restoreMemory(earlier, read({ ...stored, uid: 'uid-2' }), now);

    expect(memory).toMatchObject({ uid: 'uid-2', unresolved: null, state: stored });
  });
});

describe('restoreMemory in the first cycle', () => {
  const unseen = freshMemory(at(-1000), null);

  it('returns the stored state, with recommendations still to be seeded', () => {
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
  ])('has scaled in both directions just now if %s', (_, reading) => {
    const { state, uid } = restoreMemory(unseen, reading, NOW);

    expect(state).toMatchObject({ lastScaleUp: at(0), lastScaleDown: at(0), recommendations: null });
    expect(uid).toBeNull();
  });

  it('has scaled when the ConfigMap was created if nothing is stored', () => {
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
  ])('are unknown if %s, although windows run', (_, reading) => {
    expect(lastOf(reading)).toEqual({ up: null, down: null });
  });

  it('are the stored ones', () => {
    expect(lastOf(read({ lastScaleUp: at(-50), lastScaleDown: at(-900) }))).toEqual({
      up: at(-50),
      down: at(-900),
    });
  });

  it('are unknown if a window begins at the creation of the ConfigMap', () => {
    expect(lastOf(read({ lastScaleUp: at(-50), lastScaleDown: at(-5000) }))).toEqual({
      up: at(-50),
      down: null,
    });
  });

  it('come from a store that was unusable at first, while windows run from the start', () => {
    const scales = { lastScaleUp: at(-50), lastScaleDown: at(-900) };
    const blind = restoreMemory(unseen, { kind: 'unusable', text: null, message: 'gone' }, NOW);

    const seeing = restoreMemory(blind, read(scales), { now: at(15), spec: PLAIN });

    expect(seeing.state).toMatchObject({ lastScaleUp: at(0), lastScaleDown: at(0) });
    expect(lastScales(seeing)).toEqual({ up: at(-50), down: at(-900) });
    expect(storedStateOf(seeing, PLAIN, { uid: 'uid-1' })).toMatchObject(scales);
  });

  it.each([
    ['this process, in an earlier term', true],
    ['another replica', false],
  ])('come from an entry of %s that could not be read at first, although its text is known', (_, isOwn) => {
    const scales = { lastScaleUp: at(-50), lastScaleDown: at(-900) };
    const blind = restoreMemory(unseen, { kind: 'unusable', text: 'new', message: 'gone' }, NOW);

    const seeing = restoreMemory(blind, read(scales, isOwn), { now: at(15), spec: PLAIN });

    expect(storedStateOf(seeing, PLAIN, { uid: 'uid-1' })).toMatchObject(scales);
    expect(restoreMemory(seeing, read(scales, isOwn), { now: at(30), spec: PLAIN })).toBe(seeing);
  });

  it('come from an entry of another replica whose text was known before it could be read', () => {
    const known = restoreMemory(unseen, read({ lastScaleUp: at(-50) }), NOW);
    const unusable = { kind: 'unusable', text: 'newer', message: 'gone' } as const;
    const newer = read({ lastScaleUp: at(-20) }, false, 'newer');

    const blind = restoreMemory(known, unusable, { now: at(15), spec: PLAIN });
    const seeing = restoreMemory(blind, newer, { now: at(30), spec: PLAIN });

    expect(blind).toBe(known);
    expect(lastScales(seeing)).toMatchObject({ up: at(-20) });
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

  it('are kept through another term and a clock that was set', () => {
    const known = restoreMemory(unseen, read({ lastScaleUp: at(-50), lastScaleDown: at(-5000) }), NOW);

    const later = shiftMemory(forNewTerm(known, at(10)), -60, at(10));

    expect(lastScales(later)).toEqual({ up: at(-110), down: null });
  });
});

describe('restoreMemory in later cycles', () => {
  const known: Memory = {
    ...settledMemory({
      lastScaleUp: at(-50),
      lastScaleDown: at(-90),
      scaleEvents: [{ at: at(-50), change: 3 }],
    }),
    stored: 'old',
  };

  it('returns the same value while the spec is the same', () => {
    expect(restoreMemory(known, { kind: 'unusable', text: 'old', message: 'gone' }, NOW)).toBe(known);
  });

  it('uses the later of two times and all events', () => {
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

  it('adopts an intent, and keeps its own window', () => {
    const own = { ...INTENT, epoch: '1/a', to: 3, at: at(-5) };

    const taken = restoreMemory({ ...known, unresolved: own }, read({ intent: INTENT }), NOW);

    expect(taken.unresolved).toBe(INTENT);
    expect(taken.state.lastScaleDown).toBe(at(-5));
  });

  it('ignores the stored state of another target', () => {
    const taken = restoreMemory(known, read({ uid: 'uid-0', lastScaleUp: at(-1) }), NOW);

    expect(taken).toEqual({ ...known, stored: 'new', isUnsaved: true });
  });

  it('learns nothing from its own write, except that it is stored', () => {
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

  it('is to be stored again if the entry was deleted', () => {
    const taken = restoreMemory(known, { kind: 'none', text: null, since: at(0) }, NOW);

    expect(taken).toEqual({ ...known, stored: null, isUnsaved: true });
  });
});

describe('the time since when a metric has failed', () => {
  const failing = (seconds: number, metric = 'External/load') => new Map([[metric, at(seconds)]]);
  const now = { now: at(0), spec: WITH_FALLBACK };

  it('is restored in the first cycle', () => {
    const memory = restoreMemory(freshMemory(at(-1000), null), read({ failingSince: failing(-170) }), now);

    expect(memory.state.failingSince).toEqual(failing(-170));
  });

  it.each([
    ['the earlier start, of another replica', failing(-10), failing(-20), failing(-20)],
    ['the earlier start, its own', failing(-20), failing(-10), failing(-20)],
    ['its own if the other replica has none', failing(-10), new Map(), failing(-10)],
    ['empty if the metric has a value here', new Map(), failing(-20), new Map()],
  ])('is in later cycles %s', (_, ours, theirs, expected) => {
    const taken = restoreMemory(settledMemory({ failingSince: ours }), read({ failingSince: theirs }), now);

    expect(taken.state.failingSince).toEqual(expected);
  });

  it.each([
    ['the short key of this release', true],
    ['the name, which earlier releases stored', false],
  ])('of a metric with a long name is restored from %s', (_, isShort) => {
    const name = 'x'.repeat(250);
    const external = { query: 'x', metric: { name }, target: { type: 'AverageValue', averageValue: 10 } };
    const { spec } = buildScaler({
      fallback: { afterSeconds: 180, replicas: 10 },
      metrics: [{ type: 'External', external }],
    });
    const key = `External/${name}`;
    const failingSince = failing(-170, isShort ? storedMetricKey(key) : key);

    const memory = restoreMemory(freshMemory(at(-1000), null), read({ failingSince }), { now: at(0), spec });
    const own = { ...memory, state: { ...memory.state, failingSince: failing(-170, key) } };

    expect(memory.state.failingSince).toEqual(failing(-170, key));
    expect(isStored(own, entry({ ...own.state, failingSince }), spec)).toBe(isShort);
  });

  it('is restored by a process that has not decided yet', () => {
    const undecided = settledMemory({ recommendations: null });

    expect(restoreMemory(undecided, read({ failingSince: failing(-20) }), now).state.failingSince).toEqual(
      failing(-20),
    );
  });

  it.each([
    ['a document with a fallback', WITH_FALLBACK, failing(-5), true],
    ['a document without', PLAIN, new Map(), false],
  ])('is stored, and causes a write, for %s', (_, spec, stored, isChanged) => {
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
    ['the same values', WITH_FALLBACK, failing(-5), false],
    ['other values', WITH_FALLBACK, new Map(), true],
    ['nothing, if nothing is to be stored', PLAIN, new Map(), false],
  ])('leaves nothing unsaved if its own entry has %s', (_, spec, failingSince, isUnsaved) => {
    const memory = { ...settledMemory({ failingSince: failing(-5) }), isUnsaved: true };

    expect(restoreMemory(memory, read({ failingSince }, true), { now: at(0), spec }).isUnsaved).toBe(
      isUnsaved,
    );
  });
});

describe('isStateChanged', () => {
  const before = settledMemory({ lastScaleUp: at(-50), scaleEvents: [{ at: at(-50), change: 3 }] });

  it.each<[string, Partial<Memory>, boolean]>([
    ['nothing is', {}, false],
    ['an event has become too old', { state: { ...before.state, scaleEvents: [] } }, false],
    ['there are other recommendations', { state: { ...before.state, recommendations: null } }, false],
    ['there is another event', { state: { ...before.state, scaleEvents: [{ at: at(0), change: 1 }] } }, true],
    ['the last scale-down is', { state: { ...before.state, lastScaleDown: at(0) } }, true],
    ['it was set to zero by promscaler', { state: { ...before.state, zeroedBySelf: true } }, true],
    ['a change is unresolved', { unresolved: INTENT }, true],
    ['the target is another one', { uid: 'uid-2' }, true],
  ])('returns true if %s', (_, over, isChanged) => {
    expect(isStateChanged(before, { ...before, ...over }, PLAIN)).toBe(isChanged);
  });
});

describe('storedStateOf', () => {
  it('keeps the state before the change that is about to be made', () => {
    const memory = settledMemory({ lastScaleUp: at(-50) });

    expect(storedStateOf(memory, PLAIN, { uid: 'uid-1', intent: INTENT })).toEqual({
      uid: 'uid-1',
      lastScaleUp: at(-50),
      lastScaleDown: null,
      scaleEvents: [],
      zeroedBySelf: false,
      failingSince: new Map(),
      intent: INTENT,
    });
  });
});
