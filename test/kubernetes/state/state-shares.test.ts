import { describe, expect, it } from '@jest/globals';
import { readEntry, writeEntry } from '../../../src/kubernetes/state/state-entry.js';
import type { StoredEntry, StoredState } from '../../../src/kubernetes/state/state-entry.js';
import { bucketOf, entryKey } from '../../../src/kubernetes/state/state-key.js';
import { at } from '../../control/fixture.js';
import { StateFixture, stateOf, WEB, WEB_KEY, WEB_MAP } from './state-fixture.js';

const KIB = 1024;
const HOUR = 3_600_000;

/** Scalers of a namespace whose state is in the ConfigMap of `shop/web`. */
function scalersOf(
  namespace: string,
  count: number,
): { readonly namespace: string; readonly name: string }[] {
  const found = [];
  for (let index = 0; found.length < count; index += 1) {
    const scaler = { namespace, name: `app-${index}` };
    if (bucketOf(scaler) === bucketOf(WEB)) found.push(scaler);
  }
  return found;
}

const EVENTS = Array.from({ length: 60 }, (_, index) => ({ at: at(index), change: -1 }));
/** About 2.3 KB without, 3.5 KB with the failing metrics. */
const LARGE = stateOf({
  lastScaleUp: at(0),
  lastScaleDown: at(60),
  scaleEvents: EVENTS,
  failingSince: new Map(
    Array.from({ length: 12 }, (_, index) => [`External/${'m'.repeat(50)}-${index}`, at(0)]),
  ),
});
const DOWN = stateOf({ lastScaleDown: at(70), scaleEvents: [{ at: at(70), change: -3 }] });

function bytesOf(fixture: StateFixture): number {
  return Object.entries(fixture.maps.entries).reduce((sum, [key, text]) => sum + key.length + text.length, 0);
}

function entryOf(fixture: StateFixture, key: string): StoredEntry {
  const entry = readEntry(fixture.maps.entries[key] ?? '');
  if ('problem' in entry) throw new Error(entry.problem);
  return entry;
}

/** Writes the state of scalers one after the other until one is refused; returns that message. */
async function fill(fixture: StateFixture, namespace: string, state: StoredState): Promise<string> {
  for (const scaler of scalersOf(namespace, 600)) {
    const result = await fixture.store.put({ scaler, base: null, state });
    if (result.kind !== 'written') return result.message;
  }
  return 'never refused';
}

describe('a namespace that fills a ConfigMap', () => {
  it('is refused at 512 KiB, and a scaler of another namespace is written', async () => {
    const fixture = new StateFixture();

    const message = await fill(fixture, 'hostile', LARGE);
    const result = await fixture.store.put({ scaler: WEB, base: null, state: DOWN });

    expect(bytesOf(fixture)).toBeGreaterThan(509 * KIB);
    expect(message).toMatch(
      /^ConfigMap promscaler-state-04 is full: namespace hostile has \d+ bytes, but its share is 524288 bytes \(1 namespace\)/,
    );
    expect(result).toMatchObject({ kind: 'written' });
  });

  it('cannot grow while another one has a part of its share, which each of three fills', async () => {
    const fixture = new StateFixture();
    await fill(fixture, 'hostile', LARGE);
    await fixture.store.put({ scaler: WEB, base: null, state: DOWN });

    const message = await fill(fixture, 'second', LARGE);
    const [scaler = WEB] = scalersOf('hostile', 1);
    const { text } = await fixture.store.read(scaler);
    const grown = { ...LARGE, scaleEvents: [...EVENTS, { at: at(99), change: 1 }] };
    const own = await fixture.store.put({ scaler, base: text, state: grown });

    expect(message).toMatch(
      /namespace second has 17\d{4} bytes, but its share is 174762 bytes \(3 namespaces\)/,
    );
    // Its failing metrics make room for its change.
    expect(own.kind).toBe('written');
    expect(entryOf(fixture, entryKey(scaler) ?? '')).toMatchObject({
      failingSince: new Map(),
      lastScaleDown: at(60),
    });
    expect(bytesOf(fixture)).toBeLessThan(700 * KIB);
  });

  it('loses its failing metrics, not its windows, if the ConfigMap has no room for others', async () => {
    const fixture = new StateFixture();
    await fill(fixture, 'n0', LARGE);
    for (const namespace of ['n1', 'n2', 'n3', 'n4']) await fill(fixture, namespace, LARGE);
    const before = bytesOf(fixture);

    const results = [];
    for (const namespace of Array.from({ length: 40 }, (_, index) => `small-${index}`))
      for (const scaler of scalersOf(namespace, 2))
        results.push(await fixture.store.put({ scaler, base: null, state: LARGE }));

    expect(before).toBeGreaterThan(900 * KIB);
    expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(['written']));
    expect(bytesOf(fixture)).toBeLessThan(KIB * KIB);
    const hostile = scalersOf('n0', 150).map((scaler) => entryOf(fixture, entryKey(scaler) ?? ''));
    expect(hostile.filter(({ failingSince }) => failingSince.size === 0).length).toBeGreaterThan(10);
    expect(hostile.every(({ scaleEvents }) => scaleEvents.length === 60)).toBe(true);
    expect(hostile.every(({ lastScaleDown }) => lastScaleDown === at(60))).toBe(true);
  });
});

describe('the 24 hours after a scaler was removed', () => {
  const GONE = 'shop.gone';

  async function write(fixture: StateFixture): Promise<void> {
    const { text } = await fixture.store.read(WEB);
    const state = stateOf({ lastScaleDown: fixture.clock.now() });
    expect(await fixture.store.put({ scaler: WEB, base: text, state })).toMatchObject({ kind: 'written' });
  }

  function startAgain(fixture: StateFixture): StateFixture {
    const { maps, clock } = fixture;
    const next = new StateFixture({ maps, clock, epoch: '2/b' });
    next.store.setKnown([WEB]);
    return next;
  }

  async function removed(over: Partial<StoredState> = {}): Promise<StateFixture> {
    const fixture = new StateFixture();
    fixture.maps.edit(WEB_MAP, GONE, writeEntry('1/a', stateOf({ lastScaleUp: at(0), ...over })));
    fixture.store.setKnown([WEB]);
    await write(fixture);
    return fixture;
  }

  it('continue in the next process: the entry is dropped after two of 12 h', async () => {
    const first = await removed();
    first.clock.advance(12 * HOUR);
    const second = startAgain(first);
    await write(second);
    second.clock.advance(12 * HOUR - 1000);
    const third = startAgain(second);
    await write(third);
    expect(Object.keys(third.maps.entries)).toContain(GONE);
    third.clock.advance(2000);

    await write(startAgain(third));

    expect(Object.keys(third.maps.entries)).toEqual([WEB_KEY]);
  });

  it('end also for a scaler that was removed during a change', async () => {
    const intent = {
      epoch: '1/a',
      from: 5,
      to: 8,
      earlier: [],
      resourceVersion: '7',
      generation: 1,
      at: at(0),
    };
    const fixture = await removed({ intent });

    fixture.clock.advance(24 * HOUR + 1000);
    await write(fixture);

    expect(Object.keys(fixture.maps.entries)).toEqual([WEB_KEY]);
  });

  it('are counted for no entry while the documents are not read yet', async () => {
    const fixture = new StateFixture();
    const text = writeEntry('1/a', stateOf({ lastScaleUp: at(0) }));
    fixture.maps.edit(WEB_MAP, GONE, text);

    await write(fixture);

    expect(fixture.maps.entries[GONE]).toBe(text);
  });

  it('are the only thing that is added to the entry, with schema version 2', async () => {
    const fixture = await removed({ zeroedBySelf: true });

    expect(JSON.parse(fixture.maps.entries[GONE] ?? '')).toEqual({
      v: 2,
      epoch: '1/a',
      uid: 'uid-1',
      lastScaleUp: '2026-01-01T00:00:00Z',
      zeroedBySelf: true,
      absentSince: '2026-01-01T00:00:00Z',
    });
  });
});
