import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { planBuckets, type Claims } from '../../../src/control/sharding/plan.js';
import { bucketOf, STATE_BUCKETS } from '../../../src/kubernetes/state/state-key.js';

const names = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 20 });
const buckets = fc.uniqueArray(fc.nat(STATE_BUCKETS - 1));
/** Any claims, also of one bucket by several members. */
const anyClaims: fc.Arbitrary<Claims> = names.chain((members) =>
  fc
    .tuple(...members.map(() => buckets))
    .map((lists) => new Map(members.map((member, index) => [member, lists[index] ?? []]))),
);

function plan(claims: Claims): ReadonlyMap<number, string> {
  return planBuckets(claims, STATE_BUCKETS);
}

function claimsOf(
  members: readonly string[],
  owners: ReadonlyMap<number, string> = new Map<number, string>(),
): Claims {
  return new Map(
    members.map((member) => [
      member,
      [...owners].filter(([, owner]) => owner === member).map(([bucket]) => bucket),
    ]),
  );
}

function movedBetween(before: ReadonlyMap<number, string>, after: ReadonlyMap<number, string>): number {
  return [...after].filter(([bucket, member]) => before.get(bucket) !== member).length;
}

describe('planBuckets', () => {
  it('gives each of 16 buckets to one member, floor or ceil of 16 / members to each', () => {
    fc.assert(
      fc.property(anyClaims, (claims) => {
        const loads = new Map([...claims.keys()].map((member) => [member, 0]));
        const owners = plan(claims);
        for (const member of owners.values()) loads.set(member, (loads.get(member) ?? Number.NaN) + 1);
        const share = STATE_BUCKETS / claims.size;

        expect([...owners.keys()].sort((a, b) => a - b)).toEqual([...Array(STATE_BUCKETS).keys()]);
        for (const load of loads.values()) expect([Math.floor(share), Math.ceil(share)]).toContain(load);
      }),
    );
  });

  it('is the same in whatever order the members and their claims come', () => {
    fc.assert(
      fc.property(anyClaims, (claims) => {
        const reversed = new Map(
          [...claims].reverse().map(([member, list]) => [member, [...list].reverse()]),
        );

        expect([...plan(reversed)].sort()).toEqual([...plan(claims)].sort());
      }),
    );
  });

  it('changes nothing once the claims are the plan', () => {
    fc.assert(
      fc.property(anyClaims, (claims) => {
        const owners = plan(claims);

        expect(movedBetween(owners, plan(claimsOf([...claims.keys()], owners)))).toBe(0);
      }),
    );
  });

  it('moves only the buckets of a member that leaves', () => {
    fc.assert(
      fc.property(anyClaims, fc.nat(), (claims, index) => {
        const members = [...claims.keys()];
        fc.pre(members.length > 1);
        const owners = plan(claims);
        const gone = members[index % members.length];
        const left = members.filter((member) => member !== gone);
        const after = plan(claimsOf(left, owners));
        const own = [...owners.values()].filter((member) => member === gone).length;

        expect(movedBetween(owners, after)).toBe(own);
      }),
    );
  });

  it('moves only the share of a member that joins', () => {
    fc.assert(
      fc.property(anyClaims, (claims) => {
        const owners = plan(claims);
        const members = [...claims.keys(), 'the one that joins, longer than the others'];
        const after = plan(claimsOf(members, owners));
        const share = [...after.values()].filter((member) => member === members.at(-1)).length;

        expect(movedBetween(owners, after)).toBe(share);
      }),
    );
  });

  it('moves the share of a third member also while two release one after the other', () => {
    const owners = plan(claimsOf(['a', 'b']));
    const joined = plan(claimsOf(['a', 'b', 'c'], owners));
    // a has released its surplus, b has not yet.
    const between = new Map(
      [...owners].filter(([bucket, member]) => member === 'b' || joined.get(bucket) === 'a'),
    );

    expect(movedBetween(joined, plan(claimsOf(['a', 'b', 'c'], between)))).toBe(0);
  });

  it('divides 10,000 scalers over 3 members within 15 % of even', () => {
    const owners = plan(claimsOf(['promscaler-0', 'promscaler-1', 'promscaler-2']));
    const scalers = new Map<string, number>();
    for (let index = 0; index < 10_000; index += 1) {
      const name = { namespace: `team-${index % 40}`, name: `service-${Math.floor(index / 40)}` };
      const owner = owners.get(bucketOf(name)) ?? 'nobody';
      scalers.set(owner, (scalers.get(owner) ?? 0) + 1);
    }

    expect(scalers.size).toBe(3);
    for (const count of scalers.values()) expect(Math.abs(count / (10_000 / 3) - 1)).toBeLessThan(0.15);
  });

  it('is empty without members', () => {
    expect(plan(new Map()).size).toBe(0);
  });
});
