import { describe, expect, it } from '@jest/globals';
import { STATE_BUCKETS } from '../../../src/kubernetes/state/state-key.js';
import { Members } from './members.js';

const ALL = [...Array(STATE_BUCKETS).keys()];

/** Three replicas that have divided the buckets. */
async function threeMembers(): Promise<Members> {
  const world = new Members();
  for (const name of ['a', 'b', 'c']) world.add(name);
  await world.pass(10);
  return world;
}

function shared(world: Members): readonly number[] {
  return world.all.flatMap(({ served }) => served).sort((a, b) => a - b);
}

describe('the members', () => {
  it('that start together serve 5, 5 and 6 buckets within 3 s, each bucket once, after its state was read', async () => {
    const world = new Members();
    for (const name of ['a', 'b', 'c']) world.add(name);

    await world.passUntil(() => shared(world).length === STATE_BUCKETS, 3);

    expect(shared(world)).toEqual(ALL);
    expect([...world.loads()].sort()).toEqual([5, 5, 6]);
    for (const { served, loaded } of world.all) expect([...loaded].sort((a, b) => a - b)).toEqual(served);
  });

  it('take over the buckets of a killed one when its Lease has expired, 13 to 20 s later, and keep their own', async () => {
    const world = await threeMembers();
    const [a, b, c] = world.all;
    const kept = [a?.served ?? [], b?.served ?? []];

    c?.kill();
    await world.pass(12.9);
    const before = (a?.served.length ?? 0) + (b?.served.length ?? 0);
    await world.passUntil(() => (a?.served.length ?? 0) + (b?.served.length ?? 0) === STATE_BUCKETS, 7);

    expect(before).toBeLessThan(STATE_BUCKETS);
    expect(a?.served).toEqual(expect.arrayContaining([...(kept[0] ?? [])]));
    expect(b?.served).toEqual(expect.arrayContaining([...(kept[1] ?? [])]));
    expect(c?.shards.mayWrite()).toBe(false);
  });

  it('name the phase of a bucket whose scalers they must not change', async () => {
    const world = await threeMembers();
    const [a, b, c] = world.all;
    const ofB = b?.served[0] ?? 0;
    const whyOfA = (): string | null | undefined => a?.shards.leadershipOf(ofB).whyNoWrites();
    expect(whyOfA()).toBe(`another replica owns bucket ${ofB} or is taking it over`);
    expect(b?.shards.leadershipOf(ofB).whyNoWrites()).toBeNull();

    c?.stop.abort();
    b?.stop.abort();
    await world.passUntil(() => whyOfA() !== `another replica owns bucket ${ofB} or is taking it over`, 20);

    expect(whyOfA()).toBe(`this replica has not taken over bucket ${ofB} yet`);
    await world.passUntil(() => whyOfA() === null, 20);
  });

  it('take over the buckets of one that stops within a retry period', async () => {
    const world = await threeMembers();
    const [a, b, c] = world.all;

    c?.stop.abort();
    const seconds = await world.passUntil(
      () => (a?.served.length ?? 0) + (b?.served.length ?? 0) === STATE_BUCKETS,
      5,
    );

    expect(seconds).toBeLessThanOrEqual(2.5);
    expect(c?.log.map(([, message]) => message)).toContain('membership Lease released');
  });

  it('serve all buckets with one of three, when two are killed at once', async () => {
    const world = await threeMembers();
    const [a, b, c] = world.all;

    b?.kill();
    c?.kill();
    await world.passUntil(() => a?.served.length === STATE_BUCKETS, 20);

    expect(a?.served).toEqual(ALL);
  });

  it('give one that joins its share; a bucket is released after its cycles and the state is stored', async () => {
    const world = new Members();
    const a = world.add('a');
    await world.passUntil(() => a.served.length === STATE_BUCKETS, 5);
    let finish = (): void => undefined;
    const cycles = ALL.map((bucket) =>
      a.shards.track(bucket, () => new Promise<void>((resolve) => (finish = chain(finish, resolve)))),
    );

    const b = world.add('b');
    await world.passUntil(() => a.served.length === STATE_BUCKETS / 2, 10);
    await world.pass(10);
    const duringCycles = [b.served.length, a.flushed.length];
    finish();
    for (const cycle of cycles) await cycle;
    await world.passUntil(() => b.served.length === STATE_BUCKETS / 2, 5);

    expect(duringCycles).toEqual([0, 0]);
    expect([...a.flushed].sort((x, y) => x - y)).toEqual(b.served);
  });

  it.each([
    ['stopped for a minute', false],
    ['stopped for a minute with its monotonic clock', true],
  ])('one that was %s may write nothing until it has joined again', async (_, standsStill) => {
    const world = await threeMembers();
    const [a] = world.all;
    const allowed: boolean[] = [];
    const owned = a?.served ?? [];

    a?.clock.stop();
    await world.pass(60);
    a?.clock.goOn(standsStill);
    for (let step = 0; step < 10; step += 1) {
      allowed.push(owned.some((bucket) => a?.shards.leadershipOf(bucket).mayWrite() === true));
      await world.pass(0.01);
    }
    await world.passUntil(() => shared(world).length === STATE_BUCKETS && (a?.served.length ?? 0) >= 5, 30);

    expect(allowed).not.toContain(true);
    expect(shared(world)).toEqual(ALL);
  });

  it('one whose Lease is deleted writes nothing more after its next list, and the others wait until it expires', async () => {
    const world = await threeMembers();
    const [a, b, c] = world.all;
    a?.kill();
    const name = [...world.leases].find(([, { spec }]) => spec.holderIdentity.startsWith('a_'))?.[0] ?? '';

    world.leases.delete(name);
    await world.pass(12);
    const early = (b?.served.length ?? 0) + (c?.served.length ?? 0);
    await world.pass(8);

    expect(early).toBeLessThan(STATE_BUCKETS);
    expect((b?.served.length ?? 0) + (c?.served.length ?? 0)).toBe(STATE_BUCKETS);
  });

  it('the owner of bucket 0 deletes a Lease that was not renewed for ten minutes', async () => {
    const world = await threeMembers();
    world.all.find(({ served }) => !served.includes(0))?.kill();

    await world.pass(590);
    const before = world.leases.size;
    await world.pass(30);

    expect([before, world.leases.size]).toEqual([3, 2]);
  });

  it('one that leaves five free buckets unclaimed for 10 s gets its share again within 90 s', async () => {
    const world = await threeMembers();
    const [, b] = world.all;
    const claimsOfB = (): number | undefined =>
      [...world.leases.values()].find(({ spec }) => spec.holderIdentity.startsWith('b_'))?.buckets.length;
    // It joins again, and stops before it has claimed anything.
    if (b !== undefined) b.clock.skewSeconds += 10;
    await world.passUntil(() => claimsOfB() === 0, 5);

    b?.clock.stop();
    await world.pass(13);
    const whileStopped = world.all.map(({ served }) => served.length).sort();
    b?.clock.goOn();
    await world.passUntil(() => shared(world).length === STATE_BUCKETS && (b?.served.length ?? 0) >= 5, 90);

    expect(whileStopped).toEqual([0, 8, 8]);
    expect(shared(world)).toEqual(ALL);
  });

  it('a new claim has a higher number than every earlier one', async () => {
    const world = await threeMembers();
    const [a, , c] = world.all;
    const bucket = c?.served[0] ?? 0;
    const before = Number.parseInt(c?.shards.leadershipOf(bucket).epoch() ?? '', 10);

    c?.kill();
    await world.pass(30);
    const owner = world.all.find((one) => one !== c && one.served.includes(bucket)) ?? a;

    expect(Number.parseInt(owner?.shards.leadershipOf(bucket).epoch() ?? '', 10)).toBeGreaterThan(before);
  });
});

function chain(first: () => void, then: () => void): () => void {
  return () => {
    first();
    then();
  };
}
