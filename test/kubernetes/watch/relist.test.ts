import { describe, expect, it } from '@jest/globals';

import { eventually } from '../../support/manual-clock.js';
import { apiPod, list, openWatch, status, type Answer } from '../fake-api-server.js';
import { type ReflectorFixture, startReflector } from './reflector-fixture.js';

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
async function goneAtSeven(...answers: readonly Answer[]): Promise<ReflectorFixture> {
  const fixture = await startReflector({
    lists: [list('7', [apiPod({ name: 'a', resourceVersion: '5' })]), ...answers],
    watches: [status(410, 'too old resource version'), openWatch()],
  });
  await pause(fixture, 800);
  return fixture;
}

/** Lets a pause of exactly this length pass; the deadlines of requests in flight are all longer. */
async function pause(fixture: ReflectorFixture, ms: number): Promise<void> {
  await eventually(() => fixture.clock.nextMs === ms, `a pause of ${ms} ms`);
  fixture.clock.advance(ms);
}

const queriesOf = (fixture: ReflectorFixture) => fixture.fake.seen('LIST').map(({ query }) => query);

describe('the list after a 410', () => {
  it('is as new as the known objects, in one answer', async () => {
    const fixture = await goneAtSeven(FRESH);

    await fixture.until({ watches: 2 });

    expect(queriesOf(fixture)).toEqual([CONSISTENT, NOT_OLDER]);
    expect(fixture.watchedFrom()).toEqual(['7', '30']);
    expect([fixture.store.get('shop', 'a'), fixture.store.get('shop', 'b') === undefined]).toEqual([
      undefined,
      false,
    ]);
  });

  it.each(WAYS)(
    'is requested again after 1 s if the server is behind, three times in all, %s',
    async (_, behind) => {
      const fixture = await goneAtSeven(behind, behind, FRESH);

      await pause(fixture, 1000);
      await pause(fixture, 1000);
      await fixture.until({ watches: 2 });

      expect(queriesOf(fixture)).toEqual([CONSISTENT, NOT_OLDER, NOT_OLDER, NOT_OLDER]);
    },
  );

  it.each(WAYS)('is a consistent one if the server is behind for a third time, %s', async (_, behind) => {
    const fixture = await goneAtSeven(behind, behind, behind, FRESH);
    await pause(fixture, 1000);
    await pause(fixture, 1000);

    await fixture.until({ watches: 2 });

    expect(queriesOf(fixture)).toEqual([CONSISTENT, NOT_OLDER, NOT_OLDER, NOT_OLDER, CONSISTENT]);
  });

  it.each([
    [410, 'too old'],
    [400, 'resourceVersionMatch is forbidden'],
  ])('is a consistent one at once if the server rejects with %d', async (code, message) => {
    const fixture = await goneAtSeven(status(code, message), FRESH);

    await fixture.until({ watches: 2 });

    expect(queriesOf(fixture)).toEqual([CONSISTENT, NOT_OLDER, CONSISTENT]);
  });

  it('is a consistent one after a failure of another kind, and a pause', async () => {
    const fixture = await goneAtSeven(status(504, 'Gateway Timeout'), FRESH);
    await fixture.until({ lists: 2 });

    await pause(fixture, 1600);
    await fixture.until({ watches: 2 });

    expect(queriesOf(fixture)).toEqual([CONSISTENT, NOT_OLDER, CONSISTENT]);
  });
});
