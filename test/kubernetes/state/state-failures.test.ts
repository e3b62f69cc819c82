import { describe, expect, it } from '@jest/globals';
import type { KubernetesErrorKind } from '../../../src/kubernetes/api/types.js';
import { MAX_BUCKET_BYTES } from '../../../src/kubernetes/state/choose-writes.js';
import { bucketOf } from '../../../src/kubernetes/state/state-key.js';
import { writeEntry } from '../../../src/kubernetes/state/state-entry.js';
import { failure } from '../../control/fake-cluster.js';
import { at } from '../../control/fixture.js';
import { StateFixture, stateOf, WEB, WEB_KEY, WEB_MAP } from './state-fixture.js';

const STATE = stateOf({ lastScaleUp: at(0) });

describe('a ConfigMap that cannot be read', () => {
  it.each<[KubernetesErrorKind, string]>([
    ['not_found', `ConfigMap ${WEB_MAP} does not exist in namespace promscaler; the chart creates`],
    ['forbidden', `the service account needs permission to get ConfigMap ${WEB_MAP} in namespace promscaler`],
    ['timeout', 'the server said timeout'],
    ['server_error', 'the server said server_error'],
    ['bad_answer', 'the server said bad_answer'],
  ])('makes its scalers unusable at %s: %s', async (kind, message) => {
    const fixture = new StateFixture();
    fixture.maps.failures.set('GET', kind);

    const reading = await fixture.store.read(WEB);
    const result = await fixture.store.put({ scaler: WEB, base: null, state: STATE });

    expect(reading).toMatchObject({ kind: 'unusable', text: null });
    expect(reading).toHaveProperty('message', expect.stringContaining(message));
    expect(result).toMatchObject({ kind: 'failed' });
    expect(fixture.maps.count('PATCH')).toBe(0);
  });

  it('is read again after 1 s, not before, and is usable once it answers', async () => {
    const fixture = new StateFixture();
    fixture.maps.failures.set('GET', 'not_found');
    await fixture.store.read(WEB);
    fixture.maps.failures.clear();

    fixture.clock.advance(999);
    expect((await fixture.store.read(WEB)).kind).toBe('unusable');
    expect(fixture.maps.count('GET')).toBe(1);
    fixture.clock.advance(1);
    expect((await fixture.store.read(WEB)).kind).toBe('none');
    expect(fixture.maps.count('GET')).toBe(2);
  });

  it('is logged once when it becomes unusable, and once when it is usable again', async () => {
    const fixture = new StateFixture();
    fixture.maps.failures.set('GET', 'forbidden');
    for (let count = 0; count < 5; count += 1) {
      await fixture.store.read(WEB);
      fixture.clock.advance(15_000);
    }
    fixture.maps.failures.clear();
    await fixture.store.read(WEB);

    expect(fixture.logged.map(({ level, message }) => [level, message])).toEqual([
      ['warn', 'failed to persist scaler state'],
      ['info', 'scaler state is persisted again'],
    ]);
  });

  it('does not affect the other 15', async () => {
    const fixture = new StateFixture();
    fixture.maps.maps.delete(WEB_MAP);
    await fixture.store.reload();

    const others = Array.from({ length: 50 }, (_, index) => ({ namespace: 'shop', name: `w${index}` }));
    const kinds = await Promise.all(others.map(async (scaler) => (await fixture.store.read(scaler)).kind));

    expect((await fixture.store.read(WEB)).kind).toBe('unusable');
    expect(kinds.filter((kind) => kind === 'none').length).toBeGreaterThan(40);
  });
});

describe('a write that fails', () => {
  it.each<[KubernetesErrorKind, string]>([
    ['forbidden', 'the service account needs permission to patch'],
    ['invalid', 'the server said invalid'],
  ])('is failed by %s, and is not retried', async (kind, message) => {
    const fixture = new StateFixture();
    await fixture.store.reload();
    fixture.maps.failures.set('PATCH', kind);

    const result = await fixture.store.put({ scaler: WEB, base: null, state: STATE });

    expect(result).toEqual({ kind: 'failed', message: expect.stringContaining(message) as unknown });
    expect(fixture.maps.count('PATCH')).toBe(1);
    expect(await fixture.store.read(WEB)).toMatchObject({ kind: 'unusable' });
  });

  it.each<KubernetesErrorKind>(['timeout', 'connection', 'server_error', 'bad_answer'])(
    'is rejected at the first %s, reads the ConfigMap again, and fails at the second in a row',
    async (kind) => {
      const fixture = new StateFixture();
      await fixture.store.reload();
      fixture.maps.failures.set('PATCH', kind);

      const first = await fixture.store.put({ scaler: WEB, base: null, state: STATE });
      const reading = await fixture.store.read(WEB);
      const second = await fixture.store.put({ scaler: WEB, base: null, state: STATE });

      expect([first.kind, reading.kind, second.kind]).toEqual(['refused', 'none', 'failed']);
      expect(fixture.maps.count('GET')).toBe(17);
    },
  );

  it('does not count two rejections in a row if a write succeeded between them', async () => {
    const fixture = new StateFixture();
    const lost = (): Promise<never> => Promise.reject(failure('timeout'));
    fixture.maps.patchScripts.push(lost, (apply) => Promise.resolve(apply()), lost);
    const kinds: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      const { text } = await fixture.store.read(WEB);
      kinds.push(
        (await fixture.store.put({ scaler: WEB, base: text, state: stateOf({ lastScaleUp: at(count) }) }))
          .kind,
      );
    }

    expect(kinds).toEqual(['refused', 'written', 'refused']);
  });

  it.each([
    [5000, 'written'],
    [5001, 'refused'],
  ])('after a conflict that took %d ms is %s', async (ms, kind) => {
    const fixture = new StateFixture();
    await fixture.store.reload();
    fixture.maps.patchScripts.push(() => {
      fixture.clock.advance(ms);
      return Promise.reject(failure('conflict'));
    });

    expect((await fixture.store.put({ scaler: WEB, base: null, state: STATE })).kind).toBe(kind);
  });

  it('is recognized as its own if it was applied despite the error, once the ConfigMap is read again', async () => {
    const fixture = new StateFixture();
    fixture.maps.patchScripts.push((apply) => {
      apply();
      return Promise.reject(failure('timeout'));
    });
    expect((await fixture.store.put({ scaler: WEB, base: null, state: STATE })).kind).toBe('refused');

    expect(await fixture.store.read(WEB)).toMatchObject({ kind: 'entry', isOwn: true, entry: STATE });
  });
});

describe('a ConfigMap with other writers', () => {
  it('is read again after a conflict, and written if only another scaler was changed', async () => {
    const fixture = new StateFixture();
    await fixture.store.reload();
    fixture.maps.edit(WEB_MAP, 'shop.other', writeEntry('1/b', stateOf()));

    const result = await fixture.store.put({ scaler: WEB, base: null, state: STATE });

    expect(result.kind).toBe('written');
    expect(Object.keys(fixture.maps.entries).sort()).toEqual(['shop.other', WEB_KEY]);
    expect(fixture.maps.count('PATCH')).toBe(2);
  });

  it.each(['0/b', '1/b', '2/b'])('is not overwritten at an entry of %s that was unknown', async (epoch) => {
    const fixture = new StateFixture();
    await fixture.store.reload();
    const text = writeEntry(epoch, stateOf({ lastScaleUp: at(9) }));
    fixture.maps.edit(WEB_MAP, WEB_KEY, text);

    const result = await fixture.store.put({ scaler: WEB, base: null, state: STATE });

    expect(result.kind).toBe('refused');
    expect(fixture.maps.entries[WEB_KEY]).toBe(text);
    expect(await fixture.store.read(WEB)).toMatchObject({ kind: 'entry', text, isOwn: false });
  });

  it('fails after 4 conflicts, and is tried again by a write 1 s later, not before', async () => {
    const fixture = new StateFixture();
    await fixture.store.reload();
    for (let count = 0; count < 4; count += 1) {
      fixture.maps.patchScripts.push((apply) => {
        fixture.maps.edit(WEB_MAP, 'shop.other', writeEntry('1/b', stateOf({ lastScaleUp: at(count) })));
        return Promise.resolve(apply());
      });
    }
    const put = () => fixture.store.put({ scaler: WEB, base: null, state: STATE });
    const message = expect.stringContaining('4 conflicts') as unknown;

    expect(await put()).toEqual({ kind: 'failed', message });
    fixture.clock.advance(999);
    expect(await put()).toEqual({ kind: 'failed', message });
    expect(fixture.maps.count('PATCH')).toBe(4);
    fixture.clock.advance(1);
    expect((await put()).kind).toBe('written');
  });

  it('causes no failure for the other entries of a batch if another leader overwrote one', async () => {
    const fixture = new StateFixture();
    const second = { namespace: 'shop', name: 'web' };
    await fixture.store.reload();
    fixture.maps.edit(WEB_MAP, WEB_KEY, writeEntry('1/b', stateOf()));
    const mate = mateOfWeb();

    const [first, other] = await Promise.all([
      fixture.store.put({ scaler: second, base: null, state: STATE }),
      fixture.store.put({ scaler: mate, base: null, state: STATE }),
    ]);

    expect([first.kind, other.kind]).toEqual(['refused', 'written']);
  });
});

describe('a leader of term 3', () => {
  /** A store of epoch 3 that has read an entry of `shop/web` changed to one of `epoch`. */
  async function overtakenBy(
    epoch: string,
  ): Promise<{ readonly fixture: StateFixture; readonly base: string }> {
    const fixture = new StateFixture({ epoch: '3/a' });
    await fixture.store.reload();
    fixture.maps.edit(WEB_MAP, WEB_KEY, writeEntry(epoch, stateOf()));
    await fixture.store.put({ scaler: WEB, base: null, state: STATE });
    const { text } = await fixture.store.read(WEB);
    if (text === null) throw new Error('no entry');
    return { fixture, base: text };
  }

  it.each([
    ['4/b', 'refused'],
    ['3/b', 'written'],
    ['2/b', 'written'],
    ['of old', 'written'],
  ])('that knows an entry of %s is %s', async (epoch, kind) => {
    const { fixture, base } = await overtakenBy(epoch);

    expect((await fixture.store.put({ scaler: WEB, base, state: STATE })).kind).toBe(kind);
  });

  it.each([
    [29_999, 'refused'],
    [30_000, 'written'],
  ])('that still leads %d ms later is %s', async (ms, kind) => {
    const { fixture, base } = await overtakenBy('4/b');
    fixture.clock.advance(ms);

    expect((await fixture.store.put({ scaler: WEB, base, state: STATE })).kind).toBe(kind);
  });

  it('can overwrite the entries that another replica wrote before its term', async () => {
    const { fixture, base } = await overtakenBy('4/b');
    await fixture.store.reload();

    expect((await fixture.store.put({ scaler: WEB, base, state: STATE })).kind).toBe('written');
  });

  it('can do so at its first start, too: a recreated Lease begins at term 0', async () => {
    const fixture = new StateFixture({ epoch: '0/a' });
    fixture.maps.edit(WEB_MAP, WEB_KEY, writeEntry('7/b', stateOf()));
    const { text } = await fixture.store.read(WEB);

    expect((await fixture.store.put({ scaler: WEB, base: text, state: STATE })).kind).toBe('written');
  });

  it('writes nothing once another replica is the leader', async () => {
    const fixture = new StateFixture();
    fixture.whyNoWrites = 'another replica is the leader: b';

    expect(await fixture.store.put({ scaler: WEB, base: null, state: STATE })).toEqual({
      kind: 'refused',
      message: 'another replica is the leader: b',
    });
    expect(fixture.maps.count('PATCH')).toBe(0);
  });

  it('names itself as the writer of an entry that a delayed write of its own would replace', async () => {
    const fixture = new StateFixture();
    await fixture.store.put({ scaler: WEB, base: null, state: STATE });

    expect(
      await fixture.store.put({ scaler: WEB, base: null, state: stateOf({ lastScaleUp: at(5) }) }),
    ).toEqual({
      kind: 'refused',
      message: 'a later change of this replica has written the state of this scaler',
    });
  });

  it('reads the entries of another leader again, at a reload', async () => {
    const fixture = new StateFixture();
    await fixture.store.reload();
    fixture.maps.edit(WEB_MAP, WEB_KEY, writeEntry('2/b', stateOf({ lastScaleUp: at(5) })));
    expect((await fixture.store.read(WEB)).kind).toBe('none');

    await fixture.store.reload();

    expect(await fixture.store.read(WEB)).toMatchObject({ kind: 'entry', entry: { lastScaleUp: at(5) } });
  });
});

describe('an entry that cannot be used', () => {
  it.each([
    ['damaged', '{"v":1,"uid":', 'not valid JSON'],
    ['too new', '{"v":8,"uid":"uid-1"}', 'schema version is 8'],
    ['edited', '{"v":1,"epoch":"1/a","uid":"uid-1","lastScaleUp":"never"}', 'lastScaleUp'],
  ])('is reported and never overwritten: %s', async (_, text, problem) => {
    const fixture = new StateFixture();
    fixture.maps.edit(WEB_MAP, WEB_KEY, text);

    const reading = await fixture.store.read(WEB);
    const result = await fixture.store.put({ scaler: WEB, base: text, state: STATE });

    expect(reading).toMatchObject({ kind: 'unusable', text });
    expect(reading).toHaveProperty('message', expect.stringContaining(problem));
    expect(result).toMatchObject({ kind: 'failed' });
    expect(fixture.maps.entries[WEB_KEY]).toBe(text);
    expect(fixture.logged).toHaveLength(1);
  });

  it('does not prevent writes for the other scalers of its ConfigMap', async () => {
    const fixture = new StateFixture();
    fixture.maps.edit(WEB_MAP, WEB_KEY, 'damaged');
    const mate = mateOfWeb();

    expect((await fixture.store.put({ scaler: mate, base: null, state: STATE })).kind).toBe('written');
    expect(fixture.maps.entries[WEB_KEY]).toBe('damaged');
  });

  it('is usable again once a user has removed it and the ConfigMap is read, every 60 s', async () => {
    const fixture = new StateFixture();
    fixture.maps.edit(WEB_MAP, WEB_KEY, 'damaged');
    expect((await fixture.store.read(WEB)).kind).toBe('unusable');
    fixture.maps.edit(WEB_MAP, WEB_KEY, null);

    fixture.clock.advance(59_999);
    expect((await fixture.store.read(WEB)).kind).toBe('unusable');
    expect(fixture.maps.count('GET')).toBe(1);
    fixture.clock.advance(1);
    expect((await fixture.store.read(WEB)).kind).toBe('none');
  });

  it('is read with the current time instead of future times, and logged', async () => {
    const fixture = new StateFixture();
    const future = writeEntry('1/b', stateOf({ lastScaleUp: at(61), lastScaleDown: at(60) }));
    fixture.maps.edit(WEB_MAP, WEB_KEY, future);

    expect(await fixture.store.read(WEB)).toMatchObject({
      kind: 'entry',
      entry: { lastScaleUp: at(0), lastScaleDown: at(60) },
    });
    expect(fixture.logged.map(({ message }) => message)).toEqual([
      'state entry has times in the future; using the current time',
    ]);
  });
});

describe('size limits', () => {
  it('reject an entry of more than 4 KiB, with its size', async () => {
    const fixture = new StateFixture();
    const state = stateOf({ uid: 'u'.repeat(4096) });

    const result = await fixture.store.put({ scaler: WEB, base: null, state });

    expect(result).toMatchObject({ kind: 'failed' });
    expect(result).toHaveProperty(
      'message',
      expect.stringMatching(/would be 4\d\d\d bytes long, must be at most 4096/),
    );
    expect(fixture.maps.count('PATCH')).toBe(0);
  });

  it('reject additions to a ConfigMap of 512 KiB, but no reductions', async () => {
    const fixture = new StateFixture();
    const long = writeEntry('1/a', stateOf({ uid: 'u'.repeat(3000) }));
    fixture.maps.edit(WEB_MAP, WEB_KEY, long);
    fixture.maps.edit(WEB_MAP, 'shop.ours', 'x'.repeat(MAX_BUCKET_BYTES - long.length - 17));
    const mate = mateOfWeb();

    const refused = await fixture.store.put({ scaler: mate, base: null, state: STATE });
    const taken = await fixture.store.put({ scaler: WEB, base: long, state: STATE });
    const then = await fixture.store.put({ scaler: mate, base: null, state: STATE });

    expect(refused).toMatchObject({ kind: 'failed' });
    expect(refused).toHaveProperty('message', expect.stringContaining(`${WEB_MAP} is full`));
    expect([taken.kind, then.kind]).toEqual(['written', 'written']);
  });

  it('make a scaler unusable whose name is too long for a key', async () => {
    const fixture = new StateFixture();
    const scaler = { namespace: 'n'.repeat(63), name: 'x'.repeat(190) };

    expect(await fixture.store.read(scaler)).toMatchObject({ kind: 'unusable' });
    expect(await fixture.store.put({ scaler, base: null, state: STATE })).toMatchObject({ kind: 'failed' });
    expect(fixture.maps.requests).toEqual([]);
  });
});

/** Returns another scaler in the ConfigMap of `shop/web`. */
function mateOfWeb(): { readonly namespace: string; readonly name: string } {
  for (let index = 0; ; index += 1) {
    const mate = { namespace: 'shop', name: `mate-${index}` };
    if (bucketOf(mate) === bucketOf(WEB)) return mate;
  }
}
