import { describe, expect, it } from '@jest/globals';
import type { PutResult } from '../../../src/kubernetes/state/choose-writes.js';
import { bucketOf } from '../../../src/kubernetes/state/state-key.js';
import { stateInMemory } from '../../../src/kubernetes/state/state-store.js';
import { writeEntry } from '../../../src/kubernetes/state/state-entry.js';
import { at } from '../../control/world.js';
import { settle } from '../../support/manual-clock.js';
import { StateRig, stateOf, WEB, WEB_KEY, WEB_MAP } from './state-rig.js';

describe('the state store', () => {
  it('sends no request before it is used, and reads 16 ConfigMaps when it is loaded', async () => {
    const rig = new StateRig();
    expect(rig.maps.requests).toEqual([]);

    await rig.store.load();

    expect(rig.maps.requests.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(
      Array.from(
        { length: 16 },
        (_, index) =>
          `GET /api/v1/namespaces/promscaler/configmaps/promscaler-state-${String(index).padStart(2, '0')}`,
      ),
    );
  });

  it('reads a scaler from memory once its ConfigMap was read: one GET for 100 readings', async () => {
    const rig = new StateRig();

    for (let count = 0; count < 100; count += 1) await rig.store.read(WEB);

    expect(rig.maps.count('GET')).toBe(1);
  });

  it('returns for a scaler without an entry since when that is known', async () => {
    const rig = new StateRig();
    rig.maps.createdAt = '2026-01-01T00:00:07Z';

    expect(await rig.store.read(WEB)).toEqual({ kind: 'none', text: null, since: at(7) });
  });

  it('writes one merge-patch with the resourceVersion that was read', async () => {
    const rig = new StateRig();
    const state = stateOf({ lastScaleUp: at(0) });

    const result = await rig.store.put({ scaler: WEB, base: null, state });

    const text = writeEntry('1/a', state);
    expect(result).toEqual({ kind: 'written', stored: text });
    expect(rig.maps.requests.at(-1)).toMatchObject({
      lane: 'write',
      method: 'PATCH',
      path: `/api/v1/namespaces/promscaler/configmaps/${WEB_MAP}`,
      query: { fieldManager: 'promscaler' },
      body: { metadata: { resourceVersion: '1' }, data: { [WEB_KEY]: text } },
      verb: 'patch',
      resource: 'configmaps',
    });
    expect(await rig.store.read(WEB)).toMatchObject({ kind: 'entry', text, isOwn: true, entry: state });
  });

  it('continues with the resourceVersion of the answer: the second write needs no GET', async () => {
    const rig = new StateRig();
    const first = await rig.store.put({ scaler: WEB, base: null, state: stateOf() });
    if (first.kind !== 'written') throw new Error(first.message);

    const base = first.stored;
    const second = await rig.store.put({ scaler: WEB, base, state: stateOf({ lastScaleUp: at(1) }) });

    expect(second.kind).toBe('written');
    expect([rig.maps.count('GET'), rig.maps.count('PATCH')]).toEqual([1, 2]);
  });

  it.each(Array.from({ length: 12 }, (_, ticks) => ticks))(
    'writes state that is put %d microtasks after the last write was answered',
    async (ticks) => {
      const rig = new StateRig();
      let base = null;
      for (let count = 0; count < 2; count += 1) {
        const state = stateOf({ lastScaleUp: at(count) });
        const result: PutResult = await rig.store.put({ scaler: WEB, base, state });
        if (result.kind !== 'written') throw new Error(result.message);
        base = result.stored;
        for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
      }

      expect(rig.maps.count('PATCH')).toBe(2);
    },
    1000,
  );

  it('returns to a second process the state that the first has stored', async () => {
    const rig = new StateRig();
    await rig.store.put({ scaler: WEB, base: null, state: stateOf({ lastScaleDown: at(3) }) });

    const other = new StateRig({ maps: rig.maps, epoch: '2/b' });

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
    const rig = new StateRig();
    await rig.store.load();

    const results = await Promise.all(
      scalers.map((scaler) => rig.store.put({ scaler, base: null, state: stateOf() })),
    );

    expect(results.every(({ kind }) => kind === 'written')).toBe(true);
    expect(rig.maps.count('PATCH')).toBe(new Set(scalers.map(bucketOf)).size);
    expect(Object.keys(rig.maps.entries)).toHaveLength(1000);
  });

  it('are in the next write if they come during one: 2 writes, of 1 and of 49', async () => {
    const rig = new StateRig();
    const inOne = scalers.filter((scaler) => bucketOf(scaler) === 3).slice(0, 50);
    await rig.store.load();
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    rig.maps.before = () => gate;

    const puts = inOne.map(async (scaler, index) => {
      if (index > 0) await settle(index < 3 ? 2 : 4);
      return rig.store.put({ scaler, base: null, state: stateOf() });
    });
    await settle(10);
    expect(rig.maps.count('PATCH')).toBe(1);
    open();
    await Promise.all(puts);

    expect(rig.maps.count('PATCH')).toBe(2);
    const sizes = rig.maps.requests
      .filter(({ method }) => method === 'PATCH')
      .map(({ body }) => Object.keys(body?.['data'] ?? {}).length);
    expect(sizes).toEqual([1, 49]);
  });
});

describe('putLater', () => {
  it('writes nothing for 4.999 s and once at 5 s', async () => {
    const rig = new StateRig();
    await rig.store.load();
    rig.store.putLater({ scaler: WEB, base: null, state: stateOf() });

    await rig.clock.advanceAndSettle(4999);
    expect(rig.maps.count('PATCH')).toBe(0);
    await rig.clock.advanceAndSettle(1);
    expect(rig.maps.count('PATCH')).toBe(1);
    await rig.clock.advanceAndSettle(60_000);
    expect(rig.maps.count('PATCH')).toBe(1);
  });

  it('joins the next write of the same ConfigMap', async () => {
    const rig = new StateRig();
    await rig.store.load();
    const scalers = Array.from({ length: 100 }, (_, index) => ({ namespace: 'shop', name: `w${index}` }));
    const [first, second] = scalers.filter((scaler) => bucketOf(scaler) === 5);
    if (first === undefined || second === undefined) throw new Error('no two of one bucket');
    rig.store.putLater({ scaler: first, base: null, state: stateOf() });

    await rig.store.put({ scaler: second, base: null, state: stateOf() });
    await rig.clock.advanceAndSettle(10_000);

    expect(rig.maps.count('PATCH')).toBe(1);
    expect(Object.keys(rig.maps.entries).sort()).toEqual(
      [`shop.${first.name}`, `shop.${second.name}`].sort(),
    );
  });

  it('writes only the last of two for one scaler', async () => {
    const rig = new StateRig();
    rig.store.putLater({ scaler: WEB, base: null, state: stateOf({ lastScaleUp: at(1) }) });
    rig.store.putLater({ scaler: WEB, base: null, state: stateOf({ lastScaleUp: at(2) }) });

    await rig.store.flush();

    expect(rig.maps.count('PATCH')).toBe(1);
    expect(await rig.store.read(WEB)).toMatchObject({ entry: { lastScaleUp: at(2) } });
  });

  it('writes nothing if the entry is unchanged', async () => {
    const rig = new StateRig();
    const first = await rig.store.put({ scaler: WEB, base: null, state: stateOf() });
    if (first.kind !== 'written') throw new Error(first.message);

    rig.store.putLater({ scaler: WEB, base: first.stored, state: stateOf() });
    await rig.store.flush();

    expect(rig.maps.count('PATCH')).toBe(1);
  });

  it('is written by flush at once, and flush waits for it', async () => {
    const rig = new StateRig();
    rig.store.putLater({ scaler: WEB, base: null, state: stateOf() });

    await rig.store.flush();

    expect(Object.keys(rig.maps.entries)).toEqual([WEB_KEY]);
    expect(rig.clock.pending).toBe(0);
  });
});

describe('entries of removed scalers', () => {
  const other = { namespace: 'shop', name: 'gone' };
  const HOUR = 3_600_000;

  /** Stores an entry of an unknown scaler, written now, in the same ConfigMap as `shop/web`. */
  async function withOrphan(): Promise<StateRig> {
    const rig = new StateRig();
    rig.maps.edit(WEB_MAP, 'shop.gone', writeEntry('1/a', stateOf({ lastScaleUp: at(0) })));
    rig.store.setKnown([WEB]);
    await write(rig, 1);
    return rig;
  }

  async function write(rig: StateRig, seconds: number): Promise<void> {
    const { text } = await rig.store.read(WEB);
    await rig.store.put({ scaler: WEB, base: text, state: stateOf({ lastScaleDown: at(seconds) }) });
  }

  it('are kept for 24 h and dropped with the next write after that', async () => {
    const rig = await withOrphan();

    rig.clock.advance(24 * HOUR - 1000);
    await write(rig, 2);
    expect(Object.keys(rig.maps.entries)).toContain('shop.gone');
    rig.clock.advance(2000);
    expect(Object.keys(rig.maps.entries)).toContain('shop.gone');
    await write(rig, 3);

    expect(Object.keys(rig.maps.entries)).toEqual([WEB_KEY]);
  });

  it('are kept if the scaler returns within the 24 h', async () => {
    const rig = await withOrphan();
    rig.clock.advance(23 * HOUR);
    rig.store.setKnown([WEB, other]);
    await write(rig, 2);
    rig.store.setKnown([WEB]);
    rig.clock.advance(2 * HOUR);
    await write(rig, 3);

    expect(Object.keys(rig.maps.entries)).toContain('shop.gone');
  });

  it('are kept if another process has written them meanwhile', async () => {
    const rig = await withOrphan();
    rig.clock.advance(25 * HOUR);
    const text = writeEntry('1/b', stateOf({ lastScaleUp: at(24 * 3600) }));
    rig.maps.edit(WEB_MAP, 'shop.gone', text);

    await write(rig, 2);

    expect(rig.maps.entries['shop.gone']).toContain('"lastScaleUp":"2026-01-02T00:00:00Z"');
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
