import { describe, expect, it } from '@jest/globals';
import { freshMemory } from '../../src/control/memory.js';
import type { Memory } from '../../src/control/memory.js';
import { isStateChanged, restoreMemory, storedStateOf } from '../../src/control/stored-memory.js';
import type { StoredEntry } from '../../src/kubernetes/state-entry.js';
import type { StateReading } from '../../src/kubernetes/state-store.js';
import { at, settledMemory } from './world.js';

const INTENT = { epoch: '2/b', from: 5, to: 8, resourceVersion: '100', generation: 1, at: at(-20) };

function entry(over: Partial<StoredEntry> = {}): StoredEntry {
  return {
    epoch: '2/b',
    uid: 'uid-1',
    lastScaleUp: null,
    lastScaleDown: null,
    scaleEvents: [],
    zeroedBySelf: false,
    intent: null,
    ...over,
  };
}

function read(over: Partial<StoredEntry> = {}, isOwn = false): StateReading {
  return { kind: 'entry', text: 'new', entry: entry(over), isOwn };
}

describe('restoreMemory at the first look', () => {
  const unseen = freshMemory(at(-1000), null);

  it('is what is stored, with recommendations still to be seeded', () => {
    const scaleEvents = [{ at: at(-50), change: 3 }];
    const stored = { lastScaleUp: at(-50), lastScaleDown: at(-900), scaleEvents, zeroedBySelf: true };

    const memory = restoreMemory(unseen, read({ ...stored, intent: INTENT }), at(0));

    expect(memory).toMatchObject({ uid: 'uid-1', unresolved: INTENT, isRestored: true, stored: 'new' });
    expect(memory.state).toMatchObject({ ...stored, recommendations: null });
  });

  it.each<[string, StateReading]>([
    ['there is no store', { kind: 'off', text: null }],
    ['the store cannot be used', { kind: 'unusable', text: null, message: 'gone' }],
    ['nothing is stored and nobody knows since when', { kind: 'none', text: null, since: null }],
  ])('has scaled in both directions just now where %s', (_, reading) => {
    const { state, uid } = restoreMemory(unseen, reading, at(0));

    expect(state).toMatchObject({ lastScaleUp: at(0), lastScaleDown: at(0), recommendations: null });
    expect(uid).toBeNull();
  });

  it('has scaled when the ConfigMap was made where nothing is stored', () => {
    const { state } = restoreMemory(unseen, { kind: 'none', text: null, since: at(-70) }, at(0));

    expect(state).toMatchObject({ lastScaleUp: at(-70), lastScaleDown: at(-70) });
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

  it('is the same value while the text is the same', () => {
    expect(restoreMemory(known, { kind: 'unusable', text: 'old', message: 'gone' }, at(0))).toBe(known);
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
      at(0),
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

  it('takes an intent over, and keeps the window of its own', () => {
    const own = { ...INTENT, epoch: '1/a', to: 3, at: at(-5) };

    const taken = restoreMemory({ ...known, unresolved: own }, read({ intent: INTENT }), at(0));

    expect(taken.unresolved).toBe(INTENT);
    expect(taken.state.lastScaleDown).toBe(at(-5));
  });

  it('leaves what it knows of another target', () => {
    const taken = restoreMemory(known, read({ uid: 'uid-0', lastScaleUp: at(-1) }), at(0));

    expect(taken).toEqual({ ...known, stored: 'new', isUnsaved: true });
  });

  it('learns nothing from what it has written itself, but that it is stored', () => {
    const unsaved = { ...known, isUnsaved: true };
    const same = { ...known.state, intent: null };

    expect(restoreMemory(unsaved, read(same, true), at(0))).toEqual({
      ...known,
      stored: 'new',
      isUnsaved: false,
    });
    expect(restoreMemory(unsaved, read({ ...same, intent: INTENT }, true), at(0)).isUnsaved).toBe(true);
    expect(restoreMemory(unsaved, read({ ...same, scaleEvents: [] }, true), at(0)).isUnsaved).toBe(true);
  });

  it('is to be stored again where the entry is gone', () => {
    const taken = restoreMemory(known, { kind: 'none', text: null, since: at(0) }, at(0));

    expect(taken).toEqual({ ...known, stored: null, isUnsaved: true });
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
    ['it is at zero by itself', { state: { ...before.state, zeroedBySelf: true } }, true],
    ['a change is unresolved', { unresolved: INTENT }, true],
    ['the target is another one', { uid: 'uid-2' }, true],
  ])('where %s', (_, over, isChanged) => {
    expect(isStateChanged(before, { ...before, ...over })).toBe(isChanged);
  });
});

describe('storedStateOf', () => {
  it('keeps the state from before the change that is about to be made', () => {
    const memory = settledMemory({ lastScaleUp: at(-50) });

    expect(storedStateOf(memory, 'uid-1', INTENT)).toEqual({
      uid: 'uid-1',
      lastScaleUp: at(-50),
      lastScaleDown: null,
      scaleEvents: [],
      zeroedBySelf: false,
      intent: INTENT,
    });
  });
});
