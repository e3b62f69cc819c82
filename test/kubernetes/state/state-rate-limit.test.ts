import { describe, expect, it } from '@jest/globals';
import { failure } from '../../control/fake-cluster.js';
import { at } from '../../control/fixture.js';
import { StateFixture, stateOf, WEB } from './state-fixture.js';

const STATE = stateOf({ lastScaleUp: at(0) });

describe('a write that the server rate-limits (429)', () => {
  it('is sent again 1 s after a 429, and the store is healthy', async () => {
    const fixture = new StateFixture();
    await fixture.store.reload();
    fixture.maps.patchScripts.push(() => Promise.reject(failure('rate_limited')));
    const result = fixture.store.put({ scaler: WEB, base: null, state: STATE });

    await fixture.clock.advanceAndSettle(999);
    const early = fixture.maps.count('PATCH');
    await fixture.clock.advanceAndSettle(1);

    expect((await result).kind).toBe('written');
    expect([early, fixture.maps.count('PATCH'), fixture.maps.count('GET')]).toEqual([1, 2, 16]);
    expect(fixture.logged).toEqual([]);
  });

  it('fails after 5 s of 429, and is rejected if another replica becomes the leader meanwhile', async () => {
    const [fixture, deposed] = [new StateFixture(), new StateFixture()];
    for (const each of [fixture, deposed]) {
      await each.store.reload();
      each.maps.failures.set('PATCH', 'rate_limited');
    }
    const results = [fixture, deposed].map((each) =>
      each.store.put({ scaler: WEB, base: null, state: STATE }),
    );
    await deposed.clock.advanceAndSettle(500);
    deposed.whyNoWrites = 'another replica is the leader: b';

    for (const each of [fixture, deposed]) await each.clock.advanceAndSettle(60_000);

    expect((await Promise.all(results)).map(({ kind }) => kind)).toEqual(['failed', 'refused']);
    expect([fixture.maps.count('PATCH'), deposed.maps.count('PATCH')]).toEqual([6, 1]);
  });
});
