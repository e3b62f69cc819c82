import { describe, expect, it } from '@jest/globals';
import type { KubernetesErrorKind } from '../../../src/kubernetes/api/types.js';
import { MAX_BUCKET_BYTES } from '../../../src/kubernetes/state/choose-writes.js';
import { bucketOf } from '../../../src/kubernetes/state/state-key.js';
import { writeEntry } from '../../../src/kubernetes/state/state-entry.js';
import { failure } from '../../control/fake-cluster.js';
import { at } from '../../control/world.js';
import { StateRig, stateOf, WEB, WEB_KEY, WEB_MAP } from './state-rig.js';

const STATE = stateOf({ lastScaleUp: at(0) });

describe('a ConfigMap that cannot be read', () => {
  it.each<[KubernetesErrorKind, string]>([
    ['not_found', `ConfigMap ${WEB_MAP} does not exist in namespace promscaler; the chart creates`],
    ['forbidden', `the service account needs permission to get ConfigMap ${WEB_MAP} in namespace promscaler`],
    ['timeout', 'the server said timeout'],
    ['server_error', 'the server said server_error'],
    ['bad_answer', 'the server said bad_answer'],
  ])('makes its scalers unusable at %s: %s', async (kind, message) => {
    const rig = new StateRig();
    rig.maps.failures.set('GET', kind);

    const reading = await rig.store.read(WEB);
    const result = await rig.store.put({ scaler: WEB, base: null, state: STATE });

    expect(reading).toMatchObject({ kind: 'unusable', text: null });
    expect(reading).toHaveProperty('message', expect.stringContaining(message));
    expect(result).toMatchObject({ kind: 'failed' });
    expect(rig.maps.count('PATCH')).toBe(0);
  });

  it('is read again after 10 s, not before, and is usable once it answers', async () => {
    const rig = new StateRig();
    rig.maps.failures.set('GET', 'not_found');
    await rig.store.read(WEB);
    rig.maps.failures.clear();

    rig.clock.advance(9999);
    expect((await rig.store.read(WEB)).kind).toBe('unusable');
    expect(rig.maps.count('GET')).toBe(1);
    rig.clock.advance(1);
    expect((await rig.store.read(WEB)).kind).toBe('none');
    expect(rig.maps.count('GET')).toBe(2);
  });

  it('is logged once when it becomes unusable, and once when it is usable again', async () => {
    const rig = new StateRig();
    rig.maps.failures.set('GET', 'forbidden');
    for (let count = 0; count < 5; count += 1) {
      await rig.store.read(WEB);
      rig.clock.advance(15_000);
    }
    rig.maps.failures.clear();
    await rig.store.read(WEB);

    expect(rig.logged.map(({ level, message }) => [level, message])).toEqual([
      ['warn', 'failed to persist scaler state'],
      ['info', 'scaler state is persisted again'],
    ]);
  });

  it('does not affect the other 15', async () => {
    const rig = new StateRig();
    rig.maps.maps.delete(WEB_MAP);
    await rig.store.load();

    const others = Array.from({ length: 50 }, (_, index) => ({ namespace: 'shop', name: `w${index}` }));
    const kinds = await Promise.all(others.map(async (scaler) => (await rig.store.read(scaler)).kind));

    expect((await rig.store.read(WEB)).kind).toBe('unusable');
    expect(kinds.filter((kind) => kind === 'none').length).toBeGreaterThan(40);
  });
});

describe('a write that fails', () => {
  it.each<[KubernetesErrorKind, string]>([
    ['forbidden', 'the service account needs permission to patch'],
    ['invalid', 'the server said invalid'],
  ])('is failed by %s, and is not retried', async (kind, message) => {
    const rig = new StateRig();
    await rig.store.load();
    rig.maps.failures.set('PATCH', kind);

    const result = await rig.store.put({ scaler: WEB, base: null, state: STATE });

    expect(result).toEqual({ kind: 'failed', message: expect.stringContaining(message) as unknown });
    expect(rig.maps.count('PATCH')).toBe(1);
    expect(await rig.store.read(WEB)).toMatchObject({ kind: 'unusable' });
  });

  it.each<KubernetesErrorKind>(['timeout', 'connection', 'server_error', 'bad_answer'])(
    'is rejected at the first %s, reads the ConfigMap again, and fails at the second in a row',
    async (kind) => {
      const rig = new StateRig();
      await rig.store.load();
      rig.maps.failures.set('PATCH', kind);

      const first = await rig.store.put({ scaler: WEB, base: null, state: STATE });
      const reading = await rig.store.read(WEB);
      const second = await rig.store.put({ scaler: WEB, base: null, state: STATE });

      expect([first.kind, reading.kind, second.kind]).toEqual(['refused', 'none', 'failed']);
      expect(rig.maps.count('GET')).toBe(17);
    },
  );

  it('does not count two rejections in a row if a write succeeded between them', async () => {
    const rig = new StateRig();
    const lost = (): Promise<never> => Promise.reject(failure('timeout'));
    rig.maps.patchScripts.push(lost, (apply) => Promise.resolve(apply()), lost);
    const kinds: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      const { text } = await rig.store.read(WEB);
      kinds.push(
        (await rig.store.put({ scaler: WEB, base: text, state: stateOf({ lastScaleUp: at(count) }) })).kind,
      );
    }

    expect(kinds).toEqual(['refused', 'written', 'refused']);
  });

  it.each([
    [5000, 'written'],
    [5001, 'refused'],
  ])('after a conflict that took %d ms is %s', async (ms, kind) => {
    const rig = new StateRig();
    await rig.store.load();
    rig.maps.patchScripts.push(() => {
      rig.clock.advance(ms);
      return Promise.reject(failure('conflict'));
    });

    expect((await rig.store.put({ scaler: WEB, base: null, state: STATE })).kind).toBe(kind);
  });

  it('is recognized as its own if it was applied despite the error, once the ConfigMap is read again', async () => {
    const rig = new StateRig();
    rig.maps.patchScripts.push((apply) => {
      apply();
      return Promise.reject(failure('timeout'));
    });
    expect((await rig.store.put({ scaler: WEB, base: null, state: STATE })).kind).toBe('refused');

    expect(await rig.store.read(WEB)).toMatchObject({ kind: 'entry', isOwn: true, entry: STATE });
  });
});

describe('a ConfigMap with other writers', () => {
  it('is read again after a conflict, and written if only another scaler was changed', async () => {
    const rig = new StateRig();
    await rig.store.load();
    rig.maps.edit(WEB_MAP, 'shop.other', writeEntry('1/b', stateOf()));

    const result = await rig.store.put({ scaler: WEB, base: null, state: STATE });

    expect(result.kind).toBe('written');
    expect(Object.keys(rig.maps.entries).sort()).toEqual(['shop.other', WEB_KEY]);
    expect(rig.maps.count('PATCH')).toBe(2);
  });

  it.each(['0/b', '1/b', '2/b'])('is not overwritten at an entry of %s that was unknown', async (epoch) => {
    const rig = new StateRig();
    await rig.store.load();
    const text = writeEntry(epoch, stateOf({ lastScaleUp: at(9) }));
    rig.maps.edit(WEB_MAP, WEB_KEY, text);

    const result = await rig.store.put({ scaler: WEB, base: null, state: STATE });

    expect(result.kind).toBe('refused');
    expect(rig.maps.entries[WEB_KEY]).toBe(text);
    expect(await rig.store.read(WEB)).toMatchObject({ kind: 'entry', text, isOwn: false });
  });

  it('fails after 4 conflicts, with 10 s until the next try', async () => {
    const rig = new StateRig();
    await rig.store.load();
    for (let count = 0; count < 8; count += 1) {
      rig.maps.patchScripts.push((apply) => {
        rig.maps.edit(WEB_MAP, 'shop.other', writeEntry('1/b', stateOf({ lastScaleUp: at(count) })));
        return Promise.resolve(apply());
      });
    }

    const result = await rig.store.put({ scaler: WEB, base: null, state: STATE });

    expect(result).toMatchObject({ kind: 'failed' });
    expect(result).toHaveProperty('message', expect.stringContaining('4 conflicts'));
    expect(rig.maps.count('PATCH')).toBe(4);
    expect((await rig.store.put({ scaler: WEB, base: null, state: STATE })).kind).toBe('failed');
    expect(rig.maps.count('PATCH')).toBe(4);
  });

  it('causes no failure for the other entries of a batch if another leader overwrote one', async () => {
    const rig = new StateRig();
    const second = { namespace: 'shop', name: 'web' };
    await rig.store.load();
    rig.maps.edit(WEB_MAP, WEB_KEY, writeEntry('1/b', stateOf()));
    const mate = mateOfWeb();

    const [first, other] = await Promise.all([
      rig.store.put({ scaler: second, base: null, state: STATE }),
      rig.store.put({ scaler: mate, base: null, state: STATE }),
    ]);

    expect([first.kind, other.kind]).toEqual(['refused', 'written']);
  });
});

describe('a leader of term 3', () => {
  /** A store of epoch 3 that has read an entry of `shop/web` changed to one of `epoch`. */
  async function overtakenBy(epoch: string): Promise<{ readonly rig: StateRig; readonly base: string }> {
    const rig = new StateRig({ epoch: '3/a' });
    await rig.store.load();
    rig.maps.edit(WEB_MAP, WEB_KEY, writeEntry(epoch, stateOf()));
    await rig.store.put({ scaler: WEB, base: null, state: STATE });
    const { text } = await rig.store.read(WEB);
    if (text === null) throw new Error('no entry');
    return { rig, base: text };
  }

  it.each([
    ['4/b', 'refused'],
    ['3/b', 'written'],
    ['2/b', 'written'],
    ['of old', 'written'],
  ])('that knows an entry of %s is %s', async (epoch, kind) => {
    const { rig, base } = await overtakenBy(epoch);

    expect((await rig.store.put({ scaler: WEB, base, state: STATE })).kind).toBe(kind);
  });

  it.each([
    [29_999, 'refused'],
    [30_000, 'written'],
  ])('that still leads %d ms later is %s', async (ms, kind) => {
    const { rig, base } = await overtakenBy('4/b');
    rig.clock.advance(ms);

    expect((await rig.store.put({ scaler: WEB, base, state: STATE })).kind).toBe(kind);
  });

  it('can overwrite the entries that another replica wrote before its term', async () => {
    const { rig, base } = await overtakenBy('4/b');
    await rig.store.reload();

    expect((await rig.store.put({ scaler: WEB, base, state: STATE })).kind).toBe('written');
  });

  it('can do so at its first start, too: a recreated Lease begins at term 0', async () => {
    const rig = new StateRig({ epoch: '0/a' });
    rig.maps.edit(WEB_MAP, WEB_KEY, writeEntry('7/b', stateOf()));
    const { text } = await rig.store.read(WEB);

    expect((await rig.store.put({ scaler: WEB, base: text, state: STATE })).kind).toBe('written');
  });

  it('writes nothing once another replica is the leader', async () => {
    const rig = new StateRig();
    rig.whyNoWrites = 'another replica is the leader: b';

    expect(await rig.store.put({ scaler: WEB, base: null, state: STATE })).toEqual({
      kind: 'refused',
      message: 'another replica is the leader: b',
    });
    expect(rig.maps.count('PATCH')).toBe(0);
  });

  it('names itself as the writer of an entry that a delayed write of its own would replace', async () => {
    const rig = new StateRig();
    await rig.store.put({ scaler: WEB, base: null, state: STATE });

    expect(await rig.store.put({ scaler: WEB, base: null, state: stateOf({ lastScaleUp: at(5) }) })).toEqual({
      kind: 'refused',
      message: 'a later change of this replica has written the state of this scaler',
    });
  });

  it('reads the entries of another leader again, at a reload', async () => {
    const rig = new StateRig();
    await rig.store.load();
    rig.maps.edit(WEB_MAP, WEB_KEY, writeEntry('2/b', stateOf({ lastScaleUp: at(5) })));
    expect((await rig.store.read(WEB)).kind).toBe('none');

    await rig.store.reload();

    expect(await rig.store.read(WEB)).toMatchObject({ kind: 'entry', entry: { lastScaleUp: at(5) } });
  });
});

describe('an entry that cannot be used', () => {
  it.each([
    ['damaged', '{"v":1,"uid":', 'not valid JSON'],
    ['too new', '{"v":3,"uid":"uid-1"}', 'schema version is 3'],
    ['edited', '{"v":1,"epoch":"1/a","uid":"uid-1","lastScaleUp":"never"}', 'lastScaleUp'],
  ])('is reported and never overwritten: %s', async (_, text, problem) => {
    const rig = new StateRig();
    rig.maps.edit(WEB_MAP, WEB_KEY, text);

    const reading = await rig.store.read(WEB);
    const result = await rig.store.put({ scaler: WEB, base: text, state: STATE });

    expect(reading).toMatchObject({ kind: 'unusable', text });
    expect(reading).toHaveProperty('message', expect.stringContaining(problem));
    expect(result).toMatchObject({ kind: 'failed' });
    expect(rig.maps.entries[WEB_KEY]).toBe(text);
    expect(rig.logged).toHaveLength(1);
  });

  it('does not prevent writes for the other scalers of its ConfigMap', async () => {
    const rig = new StateRig();
    rig.maps.edit(WEB_MAP, WEB_KEY, 'damaged');
    const mate = mateOfWeb();

    expect((await rig.store.put({ scaler: mate, base: null, state: STATE })).kind).toBe('written');
    expect(rig.maps.entries[WEB_KEY]).toBe('damaged');
  });

  it('is usable again once a user has removed it and the ConfigMap is read, every 60 s', async () => {
    const rig = new StateRig();
    rig.maps.edit(WEB_MAP, WEB_KEY, 'damaged');
    expect((await rig.store.read(WEB)).kind).toBe('unusable');
    rig.maps.edit(WEB_MAP, WEB_KEY, null);

    rig.clock.advance(59_999);
    expect((await rig.store.read(WEB)).kind).toBe('unusable');
    expect(rig.maps.count('GET')).toBe(1);
    rig.clock.advance(1);
    expect((await rig.store.read(WEB)).kind).toBe('none');
  });

  it('is read with the current time instead of future times, and logged', async () => {
    const rig = new StateRig();
    rig.maps.edit(
      WEB_MAP,
      WEB_KEY,
      writeEntry('1/b', stateOf({ lastScaleUp: at(61), lastScaleDown: at(60) })),
    );

    expect(await rig.store.read(WEB)).toMatchObject({
      kind: 'entry',
      entry: { lastScaleUp: at(0), lastScaleDown: at(60) },
    });
    expect(rig.logged.map(({ message }) => message)).toEqual([
      'state entry has times in the future; using the current time',
    ]);
  });
});

describe('size limits', () => {
  it('reject an entry of more than 4 KiB, with its size', async () => {
    const rig = new StateRig();
    const state = stateOf({ uid: 'u'.repeat(4096) });

    const result = await rig.store.put({ scaler: WEB, base: null, state });

    expect(result).toMatchObject({ kind: 'failed' });
    expect(result).toHaveProperty(
      'message',
      expect.stringMatching(/would be 4\d\d\d bytes long, must be at most 4096/),
    );
    expect(rig.maps.count('PATCH')).toBe(0);
  });

  it('reject additions to a ConfigMap of 512 KiB, but no reductions', async () => {
    const rig = new StateRig();
    const long = writeEntry('1/a', stateOf({ uid: 'u'.repeat(3000) }));
    rig.maps.edit(WEB_MAP, WEB_KEY, long);
    rig.maps.edit(WEB_MAP, 'shop.ours', 'x'.repeat(MAX_BUCKET_BYTES - long.length - 17));
    const mate = mateOfWeb();

    const refused = await rig.store.put({ scaler: mate, base: null, state: STATE });
    const taken = await rig.store.put({ scaler: WEB, base: long, state: STATE });
    const then = await rig.store.put({ scaler: mate, base: null, state: STATE });

    expect(refused).toMatchObject({ kind: 'failed' });
    expect(refused).toHaveProperty('message', expect.stringContaining(`${WEB_MAP} is full`));
    expect([taken.kind, then.kind]).toEqual(['written', 'written']);
  });

  it('make a scaler unusable whose name is too long for a key', async () => {
    const rig = new StateRig();
    const scaler = { namespace: 'n'.repeat(63), name: 'x'.repeat(190) };

    expect(await rig.store.read(scaler)).toMatchObject({ kind: 'unusable' });
    expect(await rig.store.put({ scaler, base: null, state: STATE })).toMatchObject({ kind: 'failed' });
    expect(rig.maps.requests).toEqual([]);
  });
});

/** Returns another scaler in the ConfigMap of `shop/web`. */
function mateOfWeb(): { readonly namespace: string; readonly name: string } {
  for (let index = 0; ; index += 1) {
    const mate = { namespace: 'shop', name: `mate-${index}` };
    if (bucketOf(mate) === bucketOf(WEB)) return mate;
  }
}
