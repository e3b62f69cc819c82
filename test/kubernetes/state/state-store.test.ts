import { describe, expect, it } from '@jest/globals';
import type { PutResult } from '../../../src/kubernetes/state/choose-writes.js';
import { METHODS } from '../../../src/kubernetes/requests/transport.js';
import { bucketOf } from '../../../src/kubernetes/state/state-key.js';
import { stateInMemory } from '../../../src/kubernetes/state/state-store.js';
import { writeEntry } from '../../../src/kubernetes/state/state-entry.js';
import { at } from '../../control/fixture.js';
import { settle } from '../../support/manual-clock.js';
import { StateFixture, stateOf, WEB, WEB_KEY, WEB_MAP } from './state-fixture.js';

describe('the state store', () => {
  it('sends no request before it is used, and reads 16 ConfigMaps when it is loaded', async () => {
    const fixture = new StateFixture();
    expect(fixture.maps.requests).toEqual([]);

    await fixture.store.reload();

    expect(fixture.maps.requests.map(({ verb, path }) => `${METHODS[verb]} ${path}`).sort()).toEqual(
      Array.from(
        { length: 16 },
        (_, index) =>
          `GET /api/v1/namespaces/promscaler/configmaps/promscaler-state-${String(index).padStart(2, '0')}`,
      ),
    );
  });

  it('reads a scaler from memory once its ConfigMap was read: one GET for 100 readings', async () => {
    const fixture = new StateFixture();

    for (let count = 0; count < 100; count += 1) await fixture.store.read(WEB);

    expect(fixture.maps.count('GET')).toBe(1);
  });

  it('returns for a scaler without an entry since when that is known', async () => {
    const fixture = new StateFixture();
    fixture.maps.createdAt = '2026-01-01T00:00:07Z';

    expect(await fixture.store.read(WEB)).toEqual({ kind: 'none', text: null, since: at(7) });
  });

  it('writes one merge-patch with the resourceVersion that was read', async () => {
    const fixture = new StateFixture();
    const state = stateOf({ lastScaleUp: at(0) });

    const result = await fixture.store.put({ scaler: WEB, base: null, state });

    const text = writeEntry('1/a', state);
    expect(result).toEqual({ kind: 'written', stored: text });
    expect(fixture.maps.requests.at(-1)).toMatchObject({
      lane: 'write',
      path: `/api/v1/namespaces/promscaler/configmaps/${WEB_MAP}`,
      query: { fieldManager: 'promscaler' },
      body: { metadata: { resourceVersion: '1' }, data: { [WEB_KEY]: text } },
      verb: 'patch',
      resource: 'configmaps',
    });
    expect(await fixture.store.read(WEB)).toMatchObject({ kind: 'entry', text, isOwn: true, entry: state });
  });

  it('continues with the resourceVersion of the answer: the second write needs no GET', async () => {
    const fixture = new StateFixture();
    const first = await fixture.store.put({ scaler: WEB, base: null, state: stateOf() });
    if (first.kind !== 'written') throw new Error(first.message);

    const base = first.stored;
    const second = await fixture.store.put({ scaler: WEB, base, state: stateOf({ lastScaleUp: at(1) }) });

    expect(second.kind).toBe('written');
    expect([fixture.maps.count('GET'), fixture.maps.count('PATCH')]).toEqual([1, 2]);
  });

  it.each(Array.from({ length: 12 }, (_, ticks) => ticks))(
    'writes state that is put %d microtasks after the last write was answered',
    async (ticks) => {
      const fixture = new StateFixture();
      let base = null;
      for (let count = 0; count < 2; count += 1) {
        const state = stateOf({ lastScaleUp: at(count) });
        const result: PutResult = await fixture.store.put({ scaler: WEB, base, state });
        if (result.kind !== 'written') throw new Error(result.message);
        base = result.stored;
        for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
      }

      expect(fixture.maps.count('PATCH')).toBe(2);
    },
    1000,
  );

  it('returns to a second process the state that the first has stored', async () => {
    const fixture = new StateFixture();
    await fixture.store.put({ scaler: WEB, base: null, state: stateOf({ lastScaleDown: at(3) }) });

    const other = new StateFixture({ maps: fixture.maps, epoch: '2/b' });

    expect(await other.store.read(WEB)).toMatchObject({
      kind: 'entry',
      isOwn: false,
      entry: { epoch: '1/a', lastScaleDown: at(3) },
    });
  });
});

describe('many changes in one tick', () => {
  const scalers = Array.from({ length: 1000 }, (_, index) => ({ namespace: 'shop', name: `web-${index}` }));

  it('are at most 16 writes for 1,000 scalers', async () => {
    const fixture = new StateFixture();
    await fixture.store.reload();

    const results = await Promise.all(
      scalers.map((scaler) => fixture.store.put({ scaler, base: null, state: stateOf() })),
    );

    expect(results.every(({ kind }) => kind === 'written')).toBe(true);
    expect(fixture.maps.count('PATCH')).toBe(new Set(scalers.map(bucketOf)).size);
    expect(Object.keys(fixture.maps.entries)).toHaveLength(1000);
  });

  it('are in the next write if they come during one: 2 writes, of 1 and of 49', async () => {
    const fixture = new StateFixture();
    const inOne = scalers.filter((scaler) => bucketOf(scaler) === 3).slice(0, 50);
    await fixture.store.reload();
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    fixture.maps.before = () => gate;

    const puts = inOne.map(async (scaler, index) => {
      if (index > 0) await settle(index < 3 ? 2 : 4);
      return fixture.store.put({ scaler, base: null, state: stateOf() });
    });
    await settle(10);
    expect(fixture.maps.count('PATCH')).toBe(1);
    open();
    await Promise.all(puts);

    expect(fixture.maps.count('PATCH')).toBe(2);
    const sizes = fixture.maps.requests
      .filter(({ verb }) => verb === 'patch')
      .map(({ body }) => Object.keys(body?.['data'] ?? {}).length);
    expect(sizes).toEqual([1, 49]);
  });
});

describe('putLater', () => {
  it('writes nothing for 4.999 s and once at 5 s', async () => {
    const fixture = new StateFixture();
    await fixture.store.reload();
    fixture.store.putLater({ scaler: WEB, base: null, state: stateOf() });

    await fixture.clock.advanceAndSettle(4999);
    expect(fixture.maps.count('PATCH')).toBe(0);
    await fixture.clock.advanceAndSettle(1);
    expect(fixture.maps.count('PATCH')).toBe(1);
    await fixture.clock.advanceAndSettle(60_000);
    expect(fixture.maps.count('PATCH')).toBe(1);
  });

  it('joins the next write of the same ConfigMap', async () => {
    const fixture = new StateFixture();
    await fixture.store.reload();
    const scalers = Array.from({ length: 100 }, (_, index) => ({ namespace: 'shop', name: `w${index}` }));
    const [first, second] = scalers.filter((scaler) => bucketOf(scaler) === 5);
    if (first === undefined || second === undefined) throw new Error('no two of one bucket');
    fixture.store.putLater({ scaler: first, base: null, state: stateOf() });

    await fixture.store.put({ scaler: second, base: null, state: stateOf() });
    await fixture.clock.advanceAndSettle(10_000);

    expect(fixture.maps.count('PATCH')).toBe(1);
    expect(Object.keys(fixture.maps.entries).sort()).toEqual(
      [`shop.${first.name}`, `shop.${second.name}`].sort(),
    );
  });

  it('writes only the last of two for one scaler', async () => {
    const fixture = new StateFixture();
    fixture.store.putLater({ scaler: WEB, base: null, state: stateOf({ lastScaleUp: at(1) }) });
    fixture.store.putLater({ scaler: WEB, base: null, state: stateOf({ lastScaleUp: at(2) }) });

    await fixture.store.flush();

    expect(fixture.maps.count('PATCH')).toBe(1);
    expect(await fixture.store.read(WEB)).toMatchObject({ entry: { lastScaleUp: at(2) } });
  });

  it('writes nothing if the entry is unchanged', async () => {
    const fixture = new StateFixture();
    const first = await fixture.store.put({ scaler: WEB, base: null, state: stateOf() });
    if (first.kind !== 'written') throw new Error(first.message);

    fixture.store.putLater({ scaler: WEB, base: first.stored, state: stateOf() });
    await fixture.store.flush();

    expect(fixture.maps.count('PATCH')).toBe(1);
  });

  it('is written by flush at once, and flush waits for it', async () => {
    const fixture = new StateFixture();
    fixture.store.putLater({ scaler: WEB, base: null, state: stateOf() });

    await fixture.store.flush();

    expect(Object.keys(fixture.maps.entries)).toEqual([WEB_KEY]);
    expect(fixture.clock.pending).toBe(0);
  });
});

describe('entries of removed scalers', () => {
  const other = { namespace: 'shop', name: 'gone' };
  const HOUR = 3_600_000;

  /** Stores an entry of an unknown scaler, written now, in the same ConfigMap as `shop/web`. */
  async function withOrphan(): Promise<StateFixture> {
    const fixture = new StateFixture();
    fixture.maps.edit(WEB_MAP, 'shop.gone', writeEntry('1/a', stateOf({ lastScaleUp: at(0) })));
    fixture.store.setKnown([WEB]);
    await write(fixture, 1);
    return fixture;
  }

  async function write(fixture: StateFixture, seconds: number): Promise<void> {
    const { text } = await fixture.store.read(WEB);
    await fixture.store.put({ scaler: WEB, base: text, state: stateOf({ lastScaleDown: at(seconds) }) });
  }

  it('are kept for 24 h and dropped with the next write after that', async () => {
    const fixture = await withOrphan();

    fixture.clock.advance(24 * HOUR - 1000);
    await write(fixture, 2);
    expect(Object.keys(fixture.maps.entries)).toContain('shop.gone');
    fixture.clock.advance(2000);
    expect(Object.keys(fixture.maps.entries)).toContain('shop.gone');
    await write(fixture, 3);

    expect(Object.keys(fixture.maps.entries)).toEqual([WEB_KEY]);
  });

  it('are kept if the scaler returns within the 24 h', async () => {
    const fixture = await withOrphan();
    fixture.clock.advance(23 * HOUR);
    fixture.store.setKnown([WEB, other]);
    await write(fixture, 2);
    fixture.store.setKnown([WEB]);
    fixture.clock.advance(2 * HOUR);
    await write(fixture, 3);

    expect(Object.keys(fixture.maps.entries)).toContain('shop.gone');
  });

  it('are kept if another process has written them meanwhile', async () => {
    const fixture = await withOrphan();
    fixture.clock.advance(25 * HOUR);
    const text = writeEntry('1/b', stateOf({ lastScaleUp: at(24 * 3600) }));
    fixture.maps.edit(WEB_MAP, 'shop.gone', text);

    await write(fixture, 2);

    expect(fixture.maps.entries['shop.gone']).toContain('"lastScaleUp":"2026-01-02T00:00:00Z"');
  });
});

describe('state in memory', () => {
  it('is reported as not persisted, and accepts every write', async () => {
    const store = stateInMemory();

    expect(await store.read(WEB)).toEqual({ kind: 'off', text: null });
    expect(await store.put({ scaler: WEB, base: null, state: stateOf() })).toEqual({
      kind: 'written',
      stored: null,
    });
  });
});
