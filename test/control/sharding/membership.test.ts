import { describe, expect, it } from '@jest/globals';
import { STATE_BUCKETS } from '../../../src/kubernetes/state/state-key.js';
import { Members, threeMembers } from './members.js';

const ALL = [...Array(STATE_BUCKETS).keys()];

function shared(fixture: Members): readonly number[] {
  return fixture.all.flatMap(({ served }) => served).sort((a, b) => a - b);
}

describe('the members', () => {
  it('that start together serve 5, 5 and 6 buckets within 3 s, each bucket once, after its state was read', async () => {
    const fixture = new Members();
    for (const name of ['a', 'b', 'c']) fixture.add(name);

    await fixture.passUntil(() => shared(fixture).length === STATE_BUCKETS, 3);

    expect(shared(fixture)).toEqual(ALL);
    expect([...fixture.loads()].sort()).toEqual([5, 5, 6]);
    for (const { served, loaded } of fixture.all) expect([...loaded].sort((a, b) => a - b)).toEqual(served);
  });

  it('take over the buckets of a killed one when its Lease has expired, 13 to 20 s later, and keep their own', async () => {
    const fixture = await threeMembers();
    const [a, b, c] = fixture.all;
    const kept = [a?.served ?? [], b?.served ?? []];

    c?.kill();
    await fixture.pass(12.9);
    const before = (a?.served.length ?? 0) + (b?.served.length ?? 0);
    await fixture.passUntil(() => (a?.served.length ?? 0) + (b?.served.length ?? 0) === STATE_BUCKETS, 7);

    expect(before).toBeLessThan(STATE_BUCKETS);
    expect(a?.served).toEqual(expect.arrayContaining([...(kept[0] ?? [])]));
    expect(b?.served).toEqual(expect.arrayContaining([...(kept[1] ?? [])]));
    expect(c?.shards.mayWrite()).toBe(false);
  });

  it('name the phase of a bucket whose scalers they must not change', async () => {
    const fixture = await threeMembers();
    const [a, b, c] = fixture.all;
    const ofB = b?.served[0] ?? 0;
    const whyOfA = (): string | null | undefined => a?.shards.leadershipOf(ofB).whyNoWrites();
    expect(whyOfA()).toBe(`another replica owns bucket ${ofB}, or is taking over this bucket`);
    expect(b?.shards.leadershipOf(ofB).whyNoWrites()).toBeNull();

    c?.stop.abort();
    b?.stop.abort();
    await fixture.passUntil(
      () => whyOfA() !== `another replica owns bucket ${ofB}, or is taking over this bucket`,
      20,
    );

    expect(whyOfA()).toBe(`this replica has not taken over bucket ${ofB} yet`);
    await fixture.passUntil(() => whyOfA() === null, 20);
  });

  it('take over the buckets of one that stops within a retry period', async () => {
    const fixture = await threeMembers();
    const [a, b, c] = fixture.all;

    c?.stop.abort();
    const seconds = await fixture.passUntil(
      () => (a?.served.length ?? 0) + (b?.served.length ?? 0) === STATE_BUCKETS,
      5,
    );

    expect(seconds).toBeLessThanOrEqual(2.5);
    expect(c?.log.map(([, message]) => message)).toContain('membership Lease released');
  });

  it('serve all buckets with one of three, when two are killed at once', async () => {
    const fixture = await threeMembers();
    const [a, b, c] = fixture.all;

    b?.kill();
    c?.kill();
    await fixture.passUntil(() => a?.served.length === STATE_BUCKETS, 20);

    expect(a?.served).toEqual(ALL);
  });

  it('give one that joins its share; a bucket is released after its cycles and the state is stored', async () => {
    const fixture = new Members();
    const a = fixture.add('a');
    await fixture.passUntil(() => a.served.length === STATE_BUCKETS, 5);
    let finish = (): void => undefined;
    const cycles = ALL.map((bucket) =>
      a.shards.track(bucket, () => new Promise<void>((resolve) => (finish = chain(finish, resolve)))),
    );

    const b = fixture.add('b');
    await fixture.passUntil(() => a.served.length === STATE_BUCKETS / 2, 10);
    await fixture.pass(10);
    const duringCycles = [b.served.length, a.flushed.length];
    finish();
    for (const cycle of cycles) await cycle;
    await fixture.passUntil(() => b.served.length === STATE_BUCKETS / 2, 5);

    expect(duringCycles).toEqual([0, 0]);
    expect([...a.flushed].sort((x, y) => x - y)).toEqual(b.served);
  });

  it.each([
    ['stopped for a minute', false],
    ['stopped for a minute with its monotonic clock', true],
  ])('one that was %s may write nothing until it has joined again', async (_, standsStill) => {
    const fixture = await threeMembers();
    const [a] = fixture.all;
    const allowed: boolean[] = [];
    const owned = a?.served ?? [];

    a?.clock.stop();
    await fixture.pass(60);
    a?.clock.goOn(standsStill);
    for (let step = 0; step < 10; step += 1) {
      allowed.push(owned.some((bucket) => a?.shards.leadershipOf(bucket).mayWrite() === true));
      await fixture.pass(0.01);
    }
    await fixture.passUntil(
      () => shared(fixture).length === STATE_BUCKETS && (a?.served.length ?? 0) >= 5,
      30,
    );

    expect(allowed).not.toContain(true);
    expect(shared(fixture)).toEqual(ALL);
  });

  it('one whose Lease is deleted writes nothing more after its next list, and the others wait until it expires', async () => {
    const fixture = await threeMembers();
    const [a, b, c] = fixture.all;
    a?.kill();
    const name = [...fixture.leases].find(([, { spec }]) => spec.holderIdentity.startsWith('a_'))?.[0] ?? '';

    fixture.leases.delete(name);
    await fixture.pass(12);
    const early = (b?.served.length ?? 0) + (c?.served.length ?? 0);
    await fixture.pass(8);

    expect(early).toBeLessThan(STATE_BUCKETS);
    expect((b?.served.length ?? 0) + (c?.served.length ?? 0)).toBe(STATE_BUCKETS);
  });

  it('the owner of bucket 0 deletes a Lease that was not renewed for ten minutes', async () => {
    const fixture = await threeMembers();
    fixture.all.find(({ served }) => !served.includes(0))?.kill();

    await fixture.pass(590);
    const before = fixture.leases.size;
    await fixture.pass(30);

    expect([before, fixture.leases.size]).toEqual([3, 2]);
  });

  it('one that leaves five free buckets unclaimed for 10 s gets its share again within 90 s', async () => {
    const fixture = await threeMembers();
    const [, b] = fixture.all;
    const claimsOfB = (): number | undefined =>
      [...fixture.leases.values()].find(({ spec }) => spec.holderIdentity.startsWith('b_'))?.buckets.length;
    // It joins again, and stops before it has claimed anything.
    if (b !== undefined) b.clock.skewSeconds += 10;
    await fixture.passUntil(() => claimsOfB() === 0, 5);

    b?.clock.stop();
    await fixture.pass(13);
    const whileStopped = fixture.all.map(({ served }) => served.length).sort();
    b?.clock.goOn();
    await fixture.passUntil(
      () => shared(fixture).length === STATE_BUCKETS && (b?.served.length ?? 0) >= 5,
      90,
    );

    expect(whileStopped).toEqual([0, 8, 8]);
    expect(shared(fixture)).toEqual(ALL);
  });

  it('a new claim has a higher number than every earlier one', async () => {
    const fixture = await threeMembers();
    const [a, , c] = fixture.all;
    const bucket = c?.served[0] ?? 0;
    const before = Number.parseInt(c?.shards.leadershipOf(bucket).epoch() ?? '', 10);

    c?.kill();
    await fixture.pass(30);
    const owner = fixture.all.find((one) => one !== c && one.served.includes(bucket)) ?? a;

    expect(Number.parseInt(owner?.shards.leadershipOf(bucket).epoch() ?? '', 10)).toBeGreaterThan(before);
  });
});

function chain(first: () => void, then: () => void): () => void {
  return () => {
    first();
    then();
  };
}
