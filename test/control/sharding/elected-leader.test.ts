import { describe, expect, it } from '@jest/globals';
import type { LeaseSpec } from '../../../src/kubernetes/lease.js';
import { STATE_BUCKETS } from '../../../src/kubernetes/state/state-key.js';
import { Members } from './members.js';

function heldBy(holderIdentity: string, renewTime = '2026-01-01T00:00:00.000000Z'): LeaseSpec {
  return {
    holderIdentity,
    leaseDurationSeconds: 15,
    acquireTime: renewTime,
    renewTime,
    leaseTransitions: 40,
  };
}

/** Renews the Lease of the leader every 2 s. */
async function leadFor(fixture: Members, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 2) {
    fixture.leaderLease = heldBy('leader', `${fixture.clock.monotonicMs()}`);
    await fixture.pass(2);
  }
}

const servedBy = (fixture: Members): number =>
  fixture.all.reduce((sum, { served }) => sum + served.length, 0);

describe('next to an elected leader, members', () => {
  it('join and serve nothing while it renews its Lease', async () => {
    const fixture = new Members();
    fixture.leaderLease = heldBy('leader');
    for (const name of ['a', 'b']) fixture.add(name);

    await leadFor(fixture, 60);

    expect(fixture.all.map(({ shards, served }) => [shards.isLeading(), served])).toEqual([
      [true, []],
      [true, []],
    ]);
    expect([...fixture.leases.values()].map(({ buckets }) => buckets)).toEqual([[], []]);
  });

  it('take over all buckets within 4 s once it has released its Lease, with numbers above its own', async () => {
    const fixture = new Members();
    fixture.leaderLease = heldBy('leader');
    for (const name of ['a', 'b']) fixture.add(name);
    await leadFor(fixture, 20);

    fixture.leaderLease = heldBy('');
    await fixture.passUntil(() => servedBy(fixture) === STATE_BUCKETS, 4);

    const numbers = [...fixture.leases.values()].map(({ spec }) => spec.leaseTransitions);
    expect(Math.min(...numbers)).toBeGreaterThan(40);
  });

  it('take over no bucket before the Lease of a killed one has not changed for 15 s', async () => {
    const fixture = new Members();
    fixture.leaderLease = heldBy('leader');
    for (const name of ['a', 'b']) fixture.add(name);

    await fixture.pass(14.9);
    const before = servedBy(fixture);
    await fixture.passUntil(() => servedBy(fixture) === STATE_BUCKETS, 5);

    expect(before).toBe(0);
  });

  it('release all buckets within a retry period and a second when one appears, after their cycles', async () => {
    const fixture = new Members();
    for (const name of ['a', 'b']) fixture.add(name);
    await fixture.passUntil(() => servedBy(fixture) === STATE_BUCKETS, 10);

    fixture.leaderLease = heldBy('leader');
    await fixture.passUntil(
      () => [...fixture.leases.values()].every(({ buckets }) => buckets.length === 0),
      3,
    );

    expect(servedBy(fixture)).toBe(0);
    expect(fixture.all.flatMap(({ flushed }) => flushed)).toHaveLength(STATE_BUCKETS);
  });

  it.each([2, 2.8, 3.5])(
    'release all buckets within 10 s when one appears and each request takes %d s',
    async (seconds) => {
      const fixture = new Members();
      for (const name of ['a', 'b']) fixture.add(name);
      await fixture.passUntil(() => servedBy(fixture) === STATE_BUCKETS, 10);
      for (const one of fixture.all) one.fate = () => ({ thereMs: seconds * 1000 });
      await fixture.pass(20);
      const before = servedBy(fixture);

      fixture.leaderLease = heldBy('leader');
      await fixture.passUntil(() => servedBy(fixture) === 0, 10);

      expect(before).toBe(STATE_BUCKETS);
      expect(fixture.all.map(({ shards }) => shards.isLeading())).toEqual([true, true]);
    },
  );

  it('release all buckets even while lists and renewals are forbidden, as with the Role of one leader', async () => {
    const fixture = new Members();
    for (const name of ['a', 'b']) fixture.add(name);
    await fixture.passUntil(() => servedBy(fixture) === STATE_BUCKETS, 10);

    fixture.leaderLease = heldBy('leader');
    for (const one of fixture.all) one.fate = (verb) => (verb === 'get' ? {} : { refused: 'forbidden' });
    await fixture.passUntil(() => servedBy(fixture) === 0, 3);

    expect(fixture.all.every(({ shards }) => !shards.serves(0))).toBe(true);
  });
});

describe('a member that cannot read the Lease of the leader', () => {
  it('takes nothing over', async () => {
    const fixture = new Members();
    fixture.add('a').fate = (verb) => (verb === 'get' ? { refused: 'forbidden' } : {});

    await fixture.pass(60);

    expect(servedBy(fixture)).toBe(0);
  });

  it('keeps the buckets that it has', async () => {
    const fixture = new Members();
    const a = fixture.add('a');
    await fixture.passUntil(() => servedBy(fixture) === STATE_BUCKETS, 10);

    a.fate = (verb) => (verb === 'get' ? { refused: 'server_error' } : {});
    await fixture.pass(60);

    expect(servedBy(fixture)).toBe(STATE_BUCKETS);
  });
});
