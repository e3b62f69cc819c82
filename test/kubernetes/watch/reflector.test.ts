import { describe, expect, it } from '@jest/globals';

import { eventually, settle } from '../../support/manual-clock.js';
import {
  apiPod,
  bookmark,
  closedWatch,
  cut,
  errorEvent,
  event,
  list,
  openWatch,
  status,
} from '../fake-api-server.js';
import { heldWatch, PODS, startReflector } from './reflector-fixture.js';

describe('the first list and the watch', () => {
  it('lists without resourceVersion in pages of 500 and watches from the version of the list', async () => {
    const fixture = await startReflector({ lists: [list('7', [apiPod({ name: 'a' })])] });

    await fixture.until({ watches: 1 });

    expect(fixture.fake.seen('LIST')[0]?.query).toEqual({ limit: '500' });
    expect(fixture.fake.seen('WATCH')[0]?.query).toEqual({
      watch: '1',
      resourceVersion: '7',
      allowWatchBookmarks: 'true',
      timeoutSeconds: '240',
    });
    expect(fixture.store.get('shop', 'a')?.pod.phase).toBe('Running');
    expect(fixture.reflector.isSynced()).toBe(true);
  });

  it('stores added and changed objects and removes deleted ones', async () => {
    const fixture = await startReflector({
      lists: [list('7', [apiPod({ name: 'a' })])],
      watches: [
        openWatch(
          event('ADDED', apiPod({ name: 'b', resourceVersion: '8' })),
          event('MODIFIED', apiPod({ name: 'b', resourceVersion: '9', labels: { app: 'new' } })),
          event('DELETED', apiPod({ name: 'a', resourceVersion: '10' })),
        ),
      ],
    });

    await eventually(() => fixture.reflector.isSynced() && fixture.store.get('shop', 'a') === undefined);

    expect(fixture.store.get('shop', 'b')?.labels['app']).toBe('new');
  });

  it('does not revert to version 9 when that event arrives after one of version 10', async () => {
    const fixture = await startReflector({
      watches: [
        closedWatch(
          event('ADDED', apiPod({ name: 'a', resourceVersion: '10', labels: { app: 'new' } })),
          event('MODIFIED', apiPod({ name: 'a', resourceVersion: '9', labels: { app: 'old' } })),
          event('DELETED', apiPod({ name: 'a', resourceVersion: '9' })),
        ),
        openWatch(),
      ],
    });

    await fixture.until({ watches: 2 });

    expect(fixture.store.get('shop', 'a')?.labels['app']).toBe('new');
    expect(fixture.watchedFrom()).toEqual(['7', '10']);
  });

  it('does not bring back a deleted object with a late event, but accepts the late first event of another', async () => {
    const fixture = await startReflector({
      watches: [
        closedWatch(
          event('ADDED', apiPod({ name: 'a', resourceVersion: '8' })),
          event('DELETED', apiPod({ name: 'a', resourceVersion: '10' })),
          event('ADDED', apiPod({ name: 'a', resourceVersion: '8' })),
          event('ADDED', apiPod({ name: 'b', resourceVersion: '9' })),
        ),
        openWatch(),
      ],
    });

    await fixture.until({ watches: 2 });

    expect(fixture.store.get('shop', 'a')).toBeUndefined();
    expect(fixture.store.get('shop', 'b')).toBeDefined();
  });

  it('continues from the last version without a list when the server ends a watch', async () => {
    const fixture = await startReflector({
      watches: [closedWatch(event('ADDED', apiPod({ name: 'a', resourceVersion: '12' }))), openWatch()],
    });

    await fixture.until({ watches: 2 });

    expect(fixture.watchedFrom()).toEqual(['7', '12']);
    expect(fixture.lists()).toBe(1);
  });

  it('advances on a BOOKMARK but does not store it', async () => {
    const fixture = await startReflector({
      watches: [
        closedWatch(event('BOOKMARK', apiPod({ name: 'ghost', resourceVersion: '20' }))),
        openWatch(),
      ],
    });

    await fixture.until({ watches: 2 });

    expect(fixture.watchedFrom()).toEqual(['7', '20']);
    expect(fixture.store.get('shop', 'ghost')).toBeUndefined();
  });

  it('ignores an event of an unknown type', async () => {
    const fixture = await startReflector({
      watches: [
        closedWatch(event('SPARKLE', apiPod({ name: 'a', resourceVersion: '90' })), bookmark('8')),
        openWatch(),
      ],
    });

    await fixture.until({ watches: 2 });

    expect(fixture.watchedFrom()).toEqual(['7', '8']);
  });
});

describe('a watch that fails', () => {
  it('lists again when its version has expired: 410 as status', async () => {
    const fixture = await startReflector({
      lists: [list('7', [apiPod({ name: 'a' })]), list('30', [apiPod({ name: 'b' })])],
      watches: [status(410, 'too old resource version'), openWatch()],
    });

    await fixture.until({ watches: 1 });
    expect(await fixture.skipPause()).toBe(800);
    await fixture.until({ lists: 2, watches: 2 });

    expect(fixture.fake.seen('LIST')[1]?.query).toEqual({
      resourceVersion: '7',
      resourceVersionMatch: 'NotOlderThan',
    });
    expect(fixture.watchedFrom()).toEqual(['7', '30']);
    expect(fixture.store.get('shop', 'a')).toBeUndefined();
    expect(fixture.store.get('shop', 'b')).toBeDefined();
  });

  it.each(['Expired', 'Gone'])('lists again on an ERROR event 410 %s', async (reason) => {
    const fixture = await startReflector({
      lists: [list('7', []), list('30', [])],
      watches: [openWatch(errorEvent(410, reason)), openWatch()],
    });

    await fixture.until({ watches: 1 });
    await fixture.skipPause();
    await fixture.until({ lists: 2, watches: 2 });

    expect(fixture.watchedFrom()).toEqual(['7', '30']);
  });

  it('lists at once on a 410 if the last list is two minutes old, and not before', async () => {
    const { watch, send } = heldWatch();
    const fixture = await startReflector({ lists: [list('7', []), list('9', [])], watches: [watch] });
    await fixture.until({ watches: 1 });
    await settle();
    fixture.fake.on('WATCH', PODS, status(410, 'gone'), openWatch());

    fixture.clock.advance(60_000);
    send(bookmark('8'));
    await eventually(() => fixture.reflector.ageSeconds() === 0);
    fixture.clock.advance(60_000);
    fixture.fake.cut();
    await fixture.skipPause();
    await fixture.until({ lists: 2, watches: 3 });

    expect(fixture.lists()).toBe(2);
  });

  it.each([429, 500, 418])('continues from the last version on an ERROR event %i', async (code) => {
    const fixture = await startReflector({
      watches: [openWatch(bookmark('9'), errorEvent(code, 'Sorry')), openWatch()],
    });

    await fixture.until({ watches: 1 });
    expect(await fixture.skipPause()).toBe(800);
    await fixture.until({ watches: 2 });

    expect(fixture.watchedFrom()).toEqual(['7', '9']);
    expect(fixture.lists()).toBe(1);
  });

  it('never uses a version from an ERROR event', async () => {
    const misleading = event('ERROR', { kind: 'Status', code: 500, metadata: { resourceVersion: '999' } });
    const fixture = await startReflector({ watches: [openWatch(misleading), openWatch()] });

    await fixture.until({ watches: 1 });
    await fixture.skipPause();
    await fixture.until({ watches: 2 });

    expect(fixture.watchedFrom()).toEqual(['7', '7']);
  });

  it('lists again if ERROR events 500 have arrived for more than 60 s', async () => {
    const fixture = await startReflector({ watches: [openWatch(errorEvent(500, 'InternalError'))] });

    let pausedMs = 0;
    let watches = 0;
    while (fixture.lists() < 2 && watches < 12) {
      await fixture.until({ watches: (watches += 1) });
      pausedMs += await fixture.skipPause();
      await settle();
    }

    expect(fixture.lists()).toBe(2);
    expect(pausedMs).toBeGreaterThan(60_000);
    expect(pausedMs).toBeLessThan(120_000);
  });

  it.each([
    ['a refused connection', cut],
    ['a 503', status(503, 'shutting down')],
  ])('continues without a list after %s', async (_name, failure) => {
    const fixture = await startReflector({ watches: [failure, openWatch()] });

    await fixture.until({ watches: 1 });
    await fixture.skipPause();
    await fixture.until({ watches: 2 });

    expect(fixture.watchedFrom()).toEqual(['7', '7']);
    expect(fixture.lists()).toBe(1);
  });

  it('waits for the Retry-After of a 429 instead of the shorter back-off', async () => {
    const fixture = await startReflector({
      watches: [status(429, 'busy', { 'retry-after': '5' }), openWatch()],
    });

    await fixture.until({ watches: 1 });

    expect(await fixture.skipPause()).toBe(5000);
  });

  it('backs off 0.8, 1.6, 3.2 ... 30 s from watches that end at once, and from 0.8 s after two minutes without a failure', async () => {
    const fixture = await startReflector({ watches: [closedWatch()] });

    const waits: number[] = [];
    for (let watch = 1; watch <= 8; watch += 1) {
      await fixture.until({ watches: watch });
      await eventually(() => fixture.clock.pending === 1);
      await settle(20);
      waits.push(fixture.clock.nextMs ?? 0);
      if (watch === 8) fixture.fake.on('WATCH', PODS, openWatch());
      fixture.clock.advance(fixture.clock.nextMs ?? 0);
    }

    expect(waits).toEqual([800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);
    expect(fixture.lists()).toBe(1);
  });

  it('accepts a 403 after 15 s and 4 tries, and then waits half a minute to a minute, then twice as long', async () => {
    const fixture = await startReflector({ lists: [status(403, 'pods is forbidden')] });

    const waits: number[] = [];
    const failures: (string | null)[] = [];
    for (let lists = 1; lists <= 8; lists += 1) {
      await fixture.until({ lists });
      await fixture.paused();
      failures.push(fixture.reflector.failure()?.message ?? null);
      if (lists === 8) fixture.fake.on('LIST', PODS, list('7', []));
      waits.push(fixture.clock.nextMs ?? 0);
      fixture.clock.advance(fixture.clock.nextMs ?? 0);
    }
    await fixture.until({ watches: 1 });

    expect(waits).toEqual([3000, 3000, 3000, 3000, 3000, 30_000, 60_000, 120_000]);
    const believed = 'listing pods in namespace shop: 403 Forbidden: pods is forbidden';
    expect(failures).toEqual([null, null, null, null, null, believed, believed, believed]);
    expect(fixture.reflector.failure()).toBeNull();
  });

  it('recovers within 6 s and without a list if a server that has just started forbids the watch', async () => {
    const fixture = await startReflector({ watches: [cut, status(403, 'pods is forbidden'), openWatch()] });

    await fixture.until({ watches: 1 });
    await fixture.skipPause();
    await fixture.until({ watches: 2 });
    await fixture.paused();
    const kept = fixture.reflector.failure()?.kind;
    fixture.clock.chance = 0.999;
    fixture.clock.advance(6000);
    await fixture.until({ watches: 3 });

    expect(kept).toBe('connection');
    expect(fixture.watchedFrom()).toEqual(['7', '7', '7']);
    expect(fixture.lists()).toBe(1);
    await eventually(() => fixture.reflector.failure() === null);
  });

  it('does not retry a forbidden watch more often because lists are allowed', async () => {
    const fixture = await startReflector({ watches: [status(403, 'pods is forbidden')] });

    for (let watches = 1; watches <= 5; watches += 1) {
      await fixture.until({ watches });
      await fixture.paused();
      fixture.clock.advance(fixture.clock.nextMs ?? 0);
    }
    const waits: number[] = [];
    for (let watches = 6; watches <= 9; watches += 1) {
      await fixture.until({ watches });
      await fixture.paused();
      waits.push(fixture.clock.nextMs ?? 0);
      fixture.clock.advance(fixture.clock.nextMs ?? 0);
    }

    expect(waits).toEqual([30_000, 60_000, 120_000, 240_000]);
    expect(fixture.lists()).toBeGreaterThan(1);
  });

  it.each([
    ['refuses connections', cut],
    ['answers 503', status(503, 'shutting down')],
    ['answers 401', status(401, 'Unauthorized')],
  ])('recovers within 10 s from a server that %s for five minutes', async (_what, failure) => {
    const fixture = await startReflector({ watches: [failure] });
    fixture.clock.chance = 0.999;

    let longestMs = 0;
    while (fixture.clock.monotonicMs() < 300_000) {
      const seen = fixture.watches();
      await fixture.paused();
      longestMs = Math.max(longestMs, fixture.clock.nextMs ?? 0);
      fixture.clock.advance(fixture.clock.nextMs ?? 0);
      // After 110 s without news it lists.
      await eventually(() => fixture.watches() > seen);
    }

    expect(longestMs).toBeLessThan(10_000);
    expect(fixture.watches()).toBeLessThan(60);
  });

  it.each([
    ['its Retry-After of 3 s', { 'retry-after': '3' }, 3000],
    ['1 s without a Retry-After', {}, 1000],
  ])(
    'waits after a 429 exactly %s, and longer after each further one in a row',
    async (_what, headers, ms) => {
      const fixture = await startReflector({ watches: [status(429, 'busy', headers)] });
      fixture.clock.chance = 0.5;

      const waits: number[] = [];
      for (let watches = 1; watches <= 7; watches += 1) {
        await fixture.until({ watches });
        await fixture.paused();
        waits.push(fixture.clock.nextMs ?? 0);
        fixture.clock.advance(fixture.clock.nextMs ?? 0);
      }

      const backoffs = [1200, 2400, 4800, 9600, 19_200, 38_400];
      expect(waits).toEqual([ms, ...backoffs.map((backoff) => Math.max(ms, backoff))]);
    },
  );

  it('continues from the last version after a line that is not JSON', async () => {
    const fixture = await startReflector({
      watches: [
        (response) => {
          response.writeHead(200);
          response.write('<html>please log in</html>\n');
        },
        openWatch(),
      ],
    });

    await fixture.until({ watches: 1 });
    await fixture.skipPause();
    await fixture.until({ watches: 2 });

    expect(fixture.watchedFrom()).toEqual(['7', '7']);
  });
});
