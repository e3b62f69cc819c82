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
async function leadFor(world: Members, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 2) {
    world.leaderLease = heldBy('leader', `${world.clock.monotonicMs()}`);
    await world.pass(2);
  }
}

const servedBy = (world: Members): number => world.all.reduce((sum, { served }) => sum + served.length, 0);

describe('next to an elected leader, members', () => {
  it('join and serve nothing while it renews its Lease', async () => {
    const world = new Members();
    world.leaderLease = heldBy('leader');
    for (const name of ['a', 'b']) world.add(name);

    await leadFor(world, 60);

    expect(world.all.map(({ shards, served }) => [shards.isLeading(), served])).toEqual([
      [true, []],
      [true, []],
    ]);
    expect([...world.leases.values()].map(({ buckets }) => buckets)).toEqual([[], []]);
  });

  it('take over all buckets within 4 s once it has released its Lease, with numbers above its own', async () => {
    const world = new Members();
    world.leaderLease = heldBy('leader');
    for (const name of ['a', 'b']) world.add(name);
    await leadFor(world, 20);

    world.leaderLease = heldBy('');
    await world.passUntil(() => servedBy(world) === STATE_BUCKETS, 4);

    const numbers = [...world.leases.values()].map(({ spec }) => spec.leaseTransitions);
    expect(Math.min(...numbers)).toBeGreaterThan(40);
  });

  it('take over no bucket before the Lease of a killed one has not changed for 15 s', async () => {
    const world = new Members();
    world.leaderLease = heldBy('leader');
    for (const name of ['a', 'b']) world.add(name);

    await world.pass(14.9);
    const before = servedBy(world);
    await world.passUntil(() => servedBy(world) === STATE_BUCKETS, 5);

    expect(before).toBe(0);
  });

  it('release all buckets within a retry period and a second when one appears, after their cycles', async () => {
    const world = new Members();
    for (const name of ['a', 'b']) world.add(name);
    await world.passUntil(() => servedBy(world) === STATE_BUCKETS, 10);

    world.leaderLease = heldBy('leader');
    await world.passUntil(() => [...world.leases.values()].every(({ buckets }) => buckets.length === 0), 3);

    expect(servedBy(world)).toBe(0);
    expect(world.all.flatMap(({ flushed }) => flushed)).toHaveLength(STATE_BUCKETS);
  });

  it('release all buckets even while lists and renewals are forbidden, as with the Role of one leader', async () => {
    const world = new Members();
    for (const name of ['a', 'b']) world.add(name);
    await world.passUntil(() => servedBy(world) === STATE_BUCKETS, 10);

    world.leaderLease = heldBy('leader');
    for (const one of world.all) one.fate = (verb) => (verb === 'get' ? {} : { refused: 'forbidden' });
    await world.passUntil(() => servedBy(world) === 0, 3);

    expect(world.all.every(({ shards }) => !shards.serves(0))).toBe(true);
  });
});

describe('a member that cannot read the Lease of the leader', () => {
  it('takes nothing over', async () => {
    const world = new Members();
    world.add('a').fate = (verb) => (verb === 'get' ? { refused: 'forbidden' } : {});

    await world.pass(60);

    expect(servedBy(world)).toBe(0);
  });

  it('keeps the buckets that it has', async () => {
    const world = new Members();
    const a = world.add('a');
    await world.passUntil(() => servedBy(world) === STATE_BUCKETS, 10);

    a.fate = (verb) => (verb === 'get' ? { refused: 'server_error' } : {});
    await world.pass(60);

    expect(servedBy(world)).toBe(STATE_BUCKETS);
  });
});
