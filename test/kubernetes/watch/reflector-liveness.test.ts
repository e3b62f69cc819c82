import { describe, expect, it } from '@jest/globals';

import { eventually, settle } from '../../support/manual-clock.js';
import { apiPod, bookmark, event, list, openWatch, status, type Answer } from '../fake-api-server.js';
import { heldWatch, startReflector } from './reflector-fixture.js';

/** Sends the bytes of the events one by one. */
function bytewise(...events: readonly unknown[]): Answer {
  return (response) => {
    response.writeHead(200);
    const bytes = Buffer.from(events.map((one) => `${JSON.stringify(one)}\r\n\n`).join(''));
    const next = (index: number): void => {
      if (index === bytes.length) response.end('{"type":"ADDED","obj');
      else response.write(bytes.subarray(index, index + 1), () => setImmediate(next, index + 1));
    };
    response.socket?.setNoDelay(true);
    next(0);
  };
}

describe('paging', () => {
  it('continues after an empty page and publishes nothing before the last one', async () => {
    let release = (): void => undefined;
    const fixture = await startReflector({
      lists: [
        list('7', [apiPod({ name: 'a' })], 'token-1'),
        list('7', [], 'token-2'),
        (response, request) => {
          release = () => list('7', [apiPod({ name: 'b' })])(response, request);
        },
      ],
    });

    await fixture.until({ lists: 3 });
    const before = fixture.store.get('shop', 'a');
    release();
    await fixture.until({ watches: 1 });

    expect(before).toBeUndefined();
    expect(fixture.store.get('shop', 'a')).toBeDefined();
    expect(fixture.store.get('shop', 'b')).toBeDefined();
    expect(fixture.fake.seen('LIST').map(({ query }) => query)).toEqual([
      { limit: '500' },
      { limit: '500', continue: 'token-1' },
      { limit: '500', continue: 'token-2' },
    ]);
  });

  it('lists everything without a limit when page 2 has expired, and does not use the token of the 410', async () => {
    const expired: Answer = (response) => {
      response.writeHead(410, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ kind: 'Status', code: 410, reason: 'Expired', metadata: { continue: 'bad' } }),
      );
    };
    const fixture = await startReflector({
      lists: [list('7', [apiPod({ name: 'a' })], 'token-1'), expired, list('9', [apiPod({ name: 'b' })])],
    });

    await fixture.until({ watches: 1 });

    expect(fixture.fake.seen('LIST')[2]?.query).toEqual({});
    expect(fixture.watchedFrom()).toEqual(['9']);
    expect(fixture.store.get('shop', 'a')).toBeUndefined();
  });

  it('rejects a list that is older than known objects, for a minute', async () => {
    const fixture = await startReflector({
      lists: [list('70', [apiPod({ name: 'a' })]), list('9', [apiPod({ name: 'old' })])],
      watches: [status(410, 'gone'), openWatch()],
    });

    await fixture.until({ watches: 1 });
    await fixture.skipPause();
    await fixture.until({ lists: 2 });
    await eventually(() => fixture.reflector.failure()?.kind === 'bad_answer');
    const during = fixture.store.get('shop', 'old');
    for (let lists = 3; fixture.watches() < 2 && lists < 12; lists += 1) {
      await fixture.skipPause();
      await fixture.until({ lists });
      await settle(20);
    }

    expect(during).toBeUndefined();
    expect(fixture.clock.monotonicMs()).toBeGreaterThan(60_000);
    expect(fixture.watchedFrom()).toEqual(['70', '9']);
  });
});

describe('the stream', () => {
  it('reads events that arrive byte by byte, also names with umlauts and emoji, and drops a truncated line', async () => {
    const labels = { app: 'größe-🐙' };
    const fixture = await startReflector({
      watches: [bytewise(event('ADDED', apiPod({ name: 'a', resourceVersion: '8', labels }))), openWatch()],
    });

    await fixture.until({ watches: 2 });

    expect(fixture.store.get('shop', 'a')?.labels).toEqual(labels);
    expect(fixture.watchedFrom()).toEqual(['7', '8']);
  });
});

describe('liveness', () => {
  it('is the age of the last event, bookmark or list', async () => {
    const { watch, send } = heldWatch();
    const fixture = await startReflector({ watches: [watch] });
    await fixture.until({ watches: 1 });
    await settle();

    fixture.clock.advance(100_000);
    const before = fixture.reflector.ageSeconds();
    send(bookmark('8'));
    await eventually(() => fixture.reflector.ageSeconds() === 0);
    fixture.clock.advance(149_000);
    await settle();

    expect(before).toBe(100);
    expect(fixture.reflector.ageSeconds()).toBe(149);
    expect(fixture.watches()).toBe(1);
  });

  it.each([
    ['includes the 240 s for which its machine was suspended', 240, 240],
    ['is not shortened by a clock that was set back', -3600, 0],
  ])('%s', async (_, jumpSeconds, age) => {
    const fixture = await startReflector({ watches: [heldWatch().watch] });
    await fixture.until({ watches: 1 });
    await settle();

    fixture.clock.jump(jumpSeconds);

    expect(fixture.reflector.ageSeconds()).toBe(age);
  });

  it('is infinite before the first list', async () => {
    const fixture = await startReflector({ lists: [() => undefined] });
    await fixture.until({ lists: 1 });

    expect(fixture.reflector.ageSeconds()).toBe(Number.POSITIVE_INFINITY);
    expect(fixture.reflector.isSynced()).toBe(false);
  });

  it('ends a watch that was silent for 150 s, not 149, destroys its connection, lists and watches again', async () => {
    const fixture = await startReflector({
      lists: [list('7', []), list('8', [])],
      watches: [openWatch(bookmark('8'))],
    });
    await fixture.until({ watches: 1 });
    await settle(20);
    const open = fixture.fake.connections;

    fixture.clock.advance(149_000);
    await settle(20);
    const atFirst = fixture.watches();
    fixture.clock.advance(1000);
    await fixture.until({ watches: 2 });

    expect(atFirst).toBe(1);
    expect(fixture.watchedFrom()).toEqual(['7', '8']);
    expect(fixture.fake.seen('LIST').map(({ query }) => query)).toEqual([{ limit: '500' }, { limit: '500' }]);
    expect(fixture.reflector.ageSeconds()).toBe(0);
    await eventually(() => fixture.fake.connections === open);
  });

  it('ends a watch 15 s after its timeoutSeconds although events arrive, and continues from the last version', async () => {
    const { watch, send } = heldWatch();
    const fixture = await startReflector({ watches: [watch] });
    await fixture.until({ watches: 1 });
    await settle(20);

    for (const version of ['8', '9']) {
      fixture.clock.advance(100_000);
      send(bookmark(version));
      await eventually(() => fixture.reflector.ageSeconds() === 0);
    }
    fixture.clock.advance(54_000);
    await settle(20);
    const before = fixture.watches();
    fixture.clock.advance(1000);
    await fixture.until({ watches: 2 });

    expect(before).toBe(1);
    expect(fixture.watchedFrom()).toEqual(['7', '9']);
    expect(fixture.lists()).toBe(1);
  });

  it('ends a watch whose headers do not arrive within 30 s', async () => {
    const fixture = await startReflector({ watches: [() => undefined, openWatch()] });
    await fixture.until({ watches: 1 });

    fixture.clock.advance(30_000);
    await eventually(() => fixture.reflector.failure() !== null);

    expect(fixture.reflector.failure()?.message).toBe(
      'watching pods in namespace shop: timeout after 30000 ms',
    );
  });

  it('lists again if watches were rejected for more than 110 s, before the data is too old', async () => {
    const fixture = await startReflector({ watches: [status(401, 'no')] });
    await fixture.until({ watches: 1 });

    while (fixture.lists() === 1) {
      await fixture.skipPause();
      await settle(20);
    }

    expect(fixture.clock.monotonicMs()).toBeGreaterThan(110_000);
    expect(fixture.clock.monotonicMs()).toBeLessThan(180_000);
    expect(fixture.fake.seen('LIST')[1]?.query).toEqual({ limit: '500' });
    await eventually(() => fixture.reflector.ageSeconds() === 0);
  });

  it('lists again if every watch has ended at once for more than 110 s', async () => {
    const ended: Answer = (response) => response.writeHead(200).end();
    const fixture = await startReflector({ watches: [ended] });
    await fixture.until({ watches: 1 });

    while (fixture.lists() === 1) {
      await eventually(() => fixture.clock.pending > 0);
      await settle();
      fixture.clock.advance(fixture.clock.nextMs ?? 0);
    }

    expect(fixture.clock.monotonicMs()).toBeGreaterThan(110_000);
  });

  it('leaves no timer and no connection behind', async () => {
    const fixture = await startReflector();
    await fixture.until({ watches: 1 });
    await settle(20);

    await fixture.stop();

    expect(fixture.clock.pending).toBe(0);
  });
});
