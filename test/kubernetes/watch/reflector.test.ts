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
import { heldWatch, PODS, startReflector } from './reflector-rig.js';

describe('the first list and the watch', () => {
  it('lists without resourceVersion in pages of 500 and watches from the version of the list', async () => {
    const rig = await startReflector({ lists: [list('7', [apiPod({ name: 'a' })])] });

    await rig.until({ watches: 1 });

    expect(rig.fake.seen('LIST')[0]?.query).toEqual({ limit: '500' });
    expect(rig.fake.seen('WATCH')[0]?.query).toEqual({
      watch: '1',
      resourceVersion: '7',
      allowWatchBookmarks: 'true',
      timeoutSeconds: '240',
    });
    expect(rig.store.get('shop', 'a')?.pod.phase).toBe('Running');
    expect(rig.reflector.isSynced()).toBe(true);
  });

  it('stores added and changed objects and removes deleted ones', async () => {
    const rig = await startReflector({
      lists: [list('7', [apiPod({ name: 'a' })])],
      watches: [
        openWatch(
          event('ADDED', apiPod({ name: 'b', resourceVersion: '8' })),
          event('MODIFIED', apiPod({ name: 'b', resourceVersion: '9', labels: { app: 'new' } })),
          event('DELETED', apiPod({ name: 'a', resourceVersion: '10' })),
        ),
      ],
    });

    await eventually(() => rig.reflector.isSynced() && rig.store.get('shop', 'a') === undefined);

    expect(rig.store.get('shop', 'b')?.labels['app']).toBe('new');
  });

  it('does not revert to version 9 when that event arrives after one of version 10', async () => {
    const rig = await startReflector({
      watches: [
        closedWatch(
          event('ADDED', apiPod({ name: 'a', resourceVersion: '10', labels: { app: 'new' } })),
          event('MODIFIED', apiPod({ name: 'a', resourceVersion: '9', labels: { app: 'old' } })),
          event('DELETED', apiPod({ name: 'a', resourceVersion: '9' })),
        ),
        openWatch(),
      ],
    });

    await rig.until({ watches: 2 });

    expect(rig.store.get('shop', 'a')?.labels['app']).toBe('new');
    expect(rig.watchedFrom()).toEqual(['7', '10']);
  });

  it('does not bring back a deleted object with a late event, but accepts the late first event of another', async () => {
    const rig = await startReflector({
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

    await rig.until({ watches: 2 });

    expect(rig.store.get('shop', 'a')).toBeUndefined();
    expect(rig.store.get('shop', 'b')).toBeDefined();
  });

  it('continues from the last version without a list when the server ends a watch', async () => {
    const rig = await startReflector({
      watches: [closedWatch(event('ADDED', apiPod({ name: 'a', resourceVersion: '12' }))), openWatch()],
    });

    await rig.until({ watches: 2 });

    expect(rig.watchedFrom()).toEqual(['7', '12']);
    expect(rig.lists()).toBe(1);
  });

  it('advances on a BOOKMARK but does not store it', async () => {
    const rig = await startReflector({
      watches: [
        closedWatch(event('BOOKMARK', apiPod({ name: 'ghost', resourceVersion: '20' }))),
        openWatch(),
      ],
    });

    await rig.until({ watches: 2 });

    expect(rig.watchedFrom()).toEqual(['7', '20']);
    expect(rig.store.get('shop', 'ghost')).toBeUndefined();
  });

  it('ignores an event of an unknown type', async () => {
    const rig = await startReflector({
      watches: [
        closedWatch(event('SPARKLE', apiPod({ name: 'a', resourceVersion: '90' })), bookmark('8')),
        openWatch(),
      ],
    });

    await rig.until({ watches: 2 });

    expect(rig.watchedFrom()).toEqual(['7', '8']);
  });
});

describe('a watch that fails', () => {
  it('lists again when its version has expired: 410 as status', async () => {
    const rig = await startReflector({
      lists: [list('7', [apiPod({ name: 'a' })]), list('30', [apiPod({ name: 'b' })])],
      watches: [status(410, 'too old resource version'), openWatch()],
    });

    await rig.until({ watches: 1 });
    expect(await rig.skipPause()).toBe(800);
    await rig.until({ lists: 2, watches: 2 });

    expect(rig.fake.seen('LIST')[1]?.query).toEqual({
      resourceVersion: '7',
      resourceVersionMatch: 'NotOlderThan',
    });
    expect(rig.watchedFrom()).toEqual(['7', '30']);
    expect(rig.store.get('shop', 'a')).toBeUndefined();
    expect(rig.store.get('shop', 'b')).toBeDefined();
  });

  it.each(['Expired', 'Gone'])('lists again on an ERROR event 410 %s', async (reason) => {
    const rig = await startReflector({
      lists: [list('7', []), list('30', [])],
      watches: [openWatch(errorEvent(410, reason)), openWatch()],
    });

    await rig.until({ watches: 1 });
    await rig.skipPause();
    await rig.until({ lists: 2, watches: 2 });

    expect(rig.watchedFrom()).toEqual(['7', '30']);
  });

  it('lists at once on a 410 if the last list is two minutes old, and not before', async () => {
    const { watch, send } = heldWatch();
    const rig = await startReflector({ lists: [list('7', []), list('9', [])], watches: [watch] });
    await rig.until({ watches: 1 });
    await settle();
    rig.fake.on('WATCH', PODS, status(410, 'gone'), openWatch());

    rig.clock.advance(60_000);
    send(bookmark('8'));
    await eventually(() => rig.reflector.ageSeconds() === 0);
    rig.clock.advance(60_000);
    rig.fake.cut();
    await rig.skipPause();
    await rig.until({ lists: 2, watches: 3 });

    expect(rig.lists()).toBe(2);
  });

  it.each([429, 500, 418])('continues from the last version on an ERROR event %i', async (code) => {
    const rig = await startReflector({
      watches: [openWatch(bookmark('9'), errorEvent(code, 'Sorry')), openWatch()],
    });

    await rig.until({ watches: 1 });
    expect(await rig.skipPause()).toBe(800);
    await rig.until({ watches: 2 });

    expect(rig.watchedFrom()).toEqual(['7', '9']);
    expect(rig.lists()).toBe(1);
  });

  it('never uses a version from an ERROR event', async () => {
    const misleading = event('ERROR', { kind: 'Status', code: 500, metadata: { resourceVersion: '999' } });
    const rig = await startReflector({ watches: [openWatch(misleading), openWatch()] });

    await rig.until({ watches: 1 });
    await rig.skipPause();
    await rig.until({ watches: 2 });

    expect(rig.watchedFrom()).toEqual(['7', '7']);
  });

  it('lists again if ERROR events 500 have arrived for more than 60 s', async () => {
    const rig = await startReflector({ watches: [openWatch(errorEvent(500, 'InternalError'))] });

    let pausedMs = 0;
    let watches = 0;
    while (rig.lists() < 2 && watches < 12) {
      await rig.until({ watches: (watches += 1) });
      pausedMs += await rig.skipPause();
      await settle();
    }

    expect(rig.lists()).toBe(2);
    expect(pausedMs).toBeGreaterThan(60_000);
    expect(pausedMs).toBeLessThan(120_000);
  });

  it.each([
    ['a refused connection', cut],
    ['a 503', status(503, 'shutting down')],
  ])('continues without a list after %s', async (_name, failure) => {
    const rig = await startReflector({ watches: [failure, openWatch()] });

    await rig.until({ watches: 1 });
    await rig.skipPause();
    await rig.until({ watches: 2 });

    expect(rig.watchedFrom()).toEqual(['7', '7']);
    expect(rig.lists()).toBe(1);
  });

  it('waits for the Retry-After of a 429 instead of the shorter back-off', async () => {
    const rig = await startReflector({ watches: [status(429, 'busy', { 'retry-after': '5' }), openWatch()] });

    await rig.until({ watches: 1 });

    expect(await rig.skipPause()).toBe(5000);
  });

  it('backs off 0.8, 1.6, 3.2 ... 30 s from watches that end at once, and from 0.8 s after two minutes without a failure', async () => {
    const rig = await startReflector({ watches: [closedWatch()] });

    const waits: number[] = [];
    for (let watch = 1; watch <= 8; watch += 1) {
      await rig.until({ watches: watch });
      await eventually(() => rig.clock.pending === 1);
      await settle(20);
      waits.push(rig.clock.nextMs ?? 0);
      if (watch === 8) rig.fake.on('WATCH', PODS, openWatch());
      rig.clock.advance(rig.clock.nextMs ?? 0);
    }

    expect(waits).toEqual([800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);
    expect(rig.lists()).toBe(1);
  });

  it('accepts a 403 after 15 s and 4 tries, and then waits half a minute to a minute, then twice as long', async () => {
    const rig = await startReflector({ lists: [status(403, 'pods is forbidden')] });

    const waits: number[] = [];
    const failures: (string | null)[] = [];
    for (let lists = 1; lists <= 8; lists += 1) {
      await rig.until({ lists });
      await rig.paused();
      failures.push(rig.reflector.failure()?.message ?? null);
      if (lists === 8) rig.fake.on('LIST', PODS, list('7', []));
      waits.push(rig.clock.nextMs ?? 0);
      rig.clock.advance(rig.clock.nextMs ?? 0);
    }
    await rig.until({ watches: 1 });

    expect(waits).toEqual([3000, 3000, 3000, 3000, 3000, 30_000, 60_000, 120_000]);
    const believed = 'listing pods in namespace shop: 403 Forbidden: pods is forbidden';
    expect(failures).toEqual([null, null, null, null, null, believed, believed, believed]);
    expect(rig.reflector.failure()).toBeNull();
  });

  it('recovers within 6 s and without a list if a server that has just started forbids the watch', async () => {
    const rig = await startReflector({ watches: [cut, status(403, 'pods is forbidden'), openWatch()] });

    await rig.until({ watches: 1 });
    await rig.skipPause();
    await rig.until({ watches: 2 });
    await rig.paused();
    const kept = rig.reflector.failure()?.kind;
    rig.clock.chance = 0.999;
    rig.clock.advance(6000);
    await rig.until({ watches: 3 });

    expect(kept).toBe('connection');
    expect(rig.watchedFrom()).toEqual(['7', '7', '7']);
    expect(rig.lists()).toBe(1);
    await eventually(() => rig.reflector.failure() === null);
  });

  it('does not retry a forbidden watch more often because lists are allowed', async () => {
    const rig = await startReflector({ watches: [status(403, 'pods is forbidden')] });

    for (let watches = 1; watches <= 5; watches += 1) {
      await rig.until({ watches });
      await rig.paused();
      rig.clock.advance(rig.clock.nextMs ?? 0);
    }
    const waits: number[] = [];
    for (let watches = 6; watches <= 9; watches += 1) {
      await rig.until({ watches });
      await rig.paused();
      waits.push(rig.clock.nextMs ?? 0);
      rig.clock.advance(rig.clock.nextMs ?? 0);
    }

    expect(waits).toEqual([30_000, 60_000, 120_000, 240_000]);
    expect(rig.lists()).toBeGreaterThan(1);
  });

  it.each([
    ['refuses connections', cut],
    ['answers 503', status(503, 'shutting down')],
    ['answers 401', status(401, 'Unauthorized')],
  ])('recovers within 10 s from a server that %s for five minutes', async (_what, failure) => {
    const rig = await startReflector({ watches: [failure] });
    rig.clock.chance = 0.999;

    let longestMs = 0;
    while (rig.clock.monotonicMs() < 300_000) {
      const seen = rig.watches();
      await rig.paused();
      longestMs = Math.max(longestMs, rig.clock.nextMs ?? 0);
      rig.clock.advance(rig.clock.nextMs ?? 0);
      // After 110 s without news it lists.
      await eventually(() => rig.watches() > seen);
    }

    expect(longestMs).toBeLessThan(10_000);
    expect(rig.watches()).toBeLessThan(60);
  });

  it.each([
    ['its Retry-After of 3 s', { 'retry-after': '3' }, 3000],
    ['1 s without a Retry-After', {}, 1000],
  ])(
    'waits after a 429 exactly %s, and longer after each further one in a row',
    async (_what, headers, ms) => {
      const rig = await startReflector({ watches: [status(429, 'busy', headers)] });
      rig.clock.chance = 0.5;

      const waits: number[] = [];
      for (let watches = 1; watches <= 7; watches += 1) {
        await rig.until({ watches });
        await rig.paused();
        waits.push(rig.clock.nextMs ?? 0);
        rig.clock.advance(rig.clock.nextMs ?? 0);
      }

      const backoffs = [1200, 2400, 4800, 9600, 19_200, 38_400];
      expect(waits).toEqual([ms, ...backoffs.map((backoff) => Math.max(ms, backoff))]);
    },
  );

  it('continues from the last version after a line that is not JSON', async () => {
    const rig = await startReflector({
      watches: [
        (response) => {
          response.writeHead(200);
          response.write('<html>please log in</html>\n');
        },
        openWatch(),
      ],
    });

    await rig.until({ watches: 1 });
    await rig.skipPause();
    await rig.until({ watches: 2 });

    expect(rig.watchedFrom()).toEqual(['7', '7']);
  });
});
