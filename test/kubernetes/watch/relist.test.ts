import { describe, expect, it } from '@jest/globals';

import { eventually } from '../../support/manual-clock.js';
import { apiPod, list, openWatch, status, type Answer } from '../fake-api-server.js';
import { type ReflectorRig, startReflector } from './reflector-rig.js';

const NOT_OLDER = { resourceVersion: '7', resourceVersionMatch: 'NotOlderThan' };
const CONSISTENT = { limit: '500' };
const TOO_LARGE = 'Timeout: Too large resource version: 7, current: 3';
// Servers send it with or without a Retry-After.
const WAYS = [
  ['with a Retry-After', status(504, TOO_LARGE, { 'retry-after': '1' })],
  ['without a Retry-After', status(504, TOO_LARGE)],
] as const;
const FRESH = list('30', [apiPod({ name: 'b', resourceVersion: '20' })]);

/** A reflector that listed at version 7 and then got a 410 for it; `answers` are those to its next lists. */
async function goneAtSeven(...answers: readonly Answer[]): Promise<ReflectorRig> {
  const rig = await startReflector({
    lists: [list('7', [apiPod({ name: 'a', resourceVersion: '5' })]), ...answers],
    watches: [status(410, 'too old resource version'), openWatch()],
  });
  await pause(rig, 800);
  return rig;
}

/** Lets a pause of exactly this length pass; the deadlines of requests in flight are all longer. */
async function pause(rig: ReflectorRig, ms: number): Promise<void> {
  await eventually(() => rig.clock.nextMs === ms, `a pause of ${ms} ms`);
  rig.clock.advance(ms);
}

const queriesOf = (rig: ReflectorRig) => rig.fake.seen('LIST').map(({ query }) => query);

describe('the list after a 410', () => {
  it('is as new as the known objects, in one answer', async () => {
    const rig = await goneAtSeven(FRESH);

    await rig.until({ watches: 2 });

    expect(queriesOf(rig)).toEqual([CONSISTENT, NOT_OLDER]);
    expect(rig.watchedFrom()).toEqual(['7', '30']);
    expect([rig.store.get('shop', 'a'), rig.store.get('shop', 'b') === undefined]).toEqual([
      undefined,
      false,
    ]);
  });

  it.each(WAYS)(
    'is requested again after 1 s if the server is behind, three times in all, %s',
    async (_, behind) => {
      const rig = await goneAtSeven(behind, behind, FRESH);

      await pause(rig, 1000);
      await pause(rig, 1000);
      await rig.until({ watches: 2 });

      expect(queriesOf(rig)).toEqual([CONSISTENT, NOT_OLDER, NOT_OLDER, NOT_OLDER]);
    },
  );

  it.each(WAYS)('is a consistent one if the server is behind for a third time, %s', async (_, behind) => {
    const rig = await goneAtSeven(behind, behind, behind, FRESH);
    await pause(rig, 1000);
    await pause(rig, 1000);

    await rig.until({ watches: 2 });

    expect(queriesOf(rig)).toEqual([CONSISTENT, NOT_OLDER, NOT_OLDER, NOT_OLDER, CONSISTENT]);
  });

  it.each([
    [410, 'too old'],
    [400, 'resourceVersionMatch is forbidden'],
  ])('is a consistent one at once if the server rejects with %d', async (code, message) => {
    const rig = await goneAtSeven(status(code, message), FRESH);

    await rig.until({ watches: 2 });

    expect(queriesOf(rig)).toEqual([CONSISTENT, NOT_OLDER, CONSISTENT]);
  });

  it('is a consistent one after a failure of another kind, and a pause', async () => {
    const rig = await goneAtSeven(status(504, 'Gateway Timeout'), FRESH);
    await rig.until({ lists: 2 });

    await pause(rig, 1600);
    await rig.until({ watches: 2 });

    expect(queriesOf(rig)).toEqual([CONSISTENT, NOT_OLDER, CONSISTENT]);
  });
});
