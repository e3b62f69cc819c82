import { describe, expect, it } from '@jest/globals';
import { MAX_TRANSITIONS, type LeaseSpec } from '../../../src/kubernetes/lease.js';
import { type MemberLease, readBuckets } from '../../../src/kubernetes/member-leases.js';
import { STATE_BUCKETS } from '../../../src/kubernetes/state/state-key.js';
import { Members, threeMembers } from './members.js';

const ALL = [...Array(STATE_BUCKETS).keys()];

interface Forged {
  readonly identity?: string;
  readonly name?: string;
  readonly buckets?: readonly number[];
  readonly seconds?: number;
  readonly renewTime?: string;
  readonly transitions?: number;
}

/** Writes the Lease of a member that does not exist, named after its holder unless it has a name. */
function forge(fixture: Members, id: string, forged: Forged = {}): void {
  const { identity = `evil_${id}`, buckets = [], seconds = 1e9, transitions = 0 } = forged;
  const { name = `promscaler-${identity.split('_')[1] ?? ''}`, renewTime = null } = forged;
  const member: MemberLease = {
    spec: {
      holderIdentity: identity,
      leaseDurationSeconds: seconds,
      acquireTime: null,
      renewTime,
      leaseTransitions: transitions,
    },
    buckets,
    address: 'http://10.0.0.66:8080',
  };
  const uid = fixture.leases.get(name)?.uid ?? 1_000_000 + fixture.leases.size;
  fixture.leases.set(name, { ...member, uid, revision: (fixture.leases.get(name)?.revision ?? 2e6) + 1 });
}

/** Forges Leases every two seconds, for this long. */
async function renew(fixture: Members, seconds: number, write: (beat: number) => void): Promise<void> {
  for (let beat = 0; beat < seconds / 2; beat += 1) {
    write(beat);
    await fixture.pass(2);
  }
}

function served(fixture: Members): readonly number[] {
  return fixture.all.flatMap((member) => member.served).sort((a, b) => a - b);
}

/** Returns the seconds in which a bucket had no owner. */
async function gapSeconds(
  fixture: Members,
  seconds: number,
  write?: (beat: number) => void,
): Promise<number> {
  let gap = 0;
  for (let at = 0; at < seconds; at += 1) {
    if (write !== undefined && at % 2 === 0) write(at / 2);
    await fixture.pass(1);
    if (served(fixture).length < STATE_BUCKETS) gap += 1;
  }
  return gap;
}

const IDLE = ['1', '2', '3', '4', '5', '6'].map((digit) => `f${digit}`);

describe('three members next to six forged Leases that claim nothing for 1e9 s', () => {
  it('keep serving all buckets if the Leases were created once', async () => {
    const fixture = await threeMembers();
    for (const id of IDLE) forge(fixture, id);

    expect(await gapSeconds(fixture, 120)).toBe(0);
    expect(served(fixture)).toEqual(ALL);
  });

  it('serve all buckets within 10 s if they start next to the Leases', async () => {
    const fixture = new Members();
    for (const id of IDLE) forge(fixture, id);
    for (const name of ['a', 'b', 'c']) fixture.add(name);

    expect(await fixture.passUntil(() => served(fixture).length === STATE_BUCKETS, 20)).toBeLessThanOrEqual(
      10,
    );
    expect(await gapSeconds(fixture, 60)).toBe(0);
  });

  it('miss buckets for at most 60 s in ten minutes if the Leases are renewed for ever', async () => {
    const fixture = await threeMembers();
    const write = (beat: number): void => {
      for (const id of IDLE) forge(fixture, id, { renewTime: `2026-01-01T00:00:00.${beat}Z` });
    };

    expect(await gapSeconds(fixture, 600, write)).toBeLessThanOrEqual(60);
    expect(served(fixture)).toEqual(ALL);
  });
});

describe('three members next to a forged Lease', () => {
  it.each<[string, Forged]>([
    ['that claims all buckets', { buckets: ALL }],
    ['with the identity of a member', { identity: 'a_0', name: 'promscaler-other', buckets: ALL }],
    ['that was renewed in the far future', { renewTime: '9999-01-01T00:00:00.000000Z' }],
    ['that was renewed in the far past', { renewTime: '0001-01-01T00:00:00.000000Z', buckets: ALL }],
    ['with garbage as claims', { buckets: readBuckets('7,x,-1') }],
    ['with the highest number', { transitions: 2 ** 31 - 1, buckets: ALL }],
  ])('%s, written every two seconds, keep serving what they have', async (_, forged) => {
    const fixture = await threeMembers();
    const before = fixture.all.map((member) => member.served);

    await renew(fixture, 60, (beat) => forge(fixture, 'f', { ...forged, transitions: beat }));
    const kept = fixture.all.map(
      (member, index) => member.served.filter((bucket) => before[index]?.includes(bucket)).length,
    );

    // One of four members would get four buckets.
    expect(kept.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(STATE_BUCKETS - 4);
    await fixture.pass(80);
    expect(served(fixture)).toEqual(ALL);
  });

  it('that claims all buckets, created once, take over the buckets of a killed one after a minute', async () => {
    const fixture = await threeMembers();
    forge(fixture, 'f', { buckets: ALL });
    fixture.all[2]?.kill();

    await fixture.pass(55);
    const living = (): number =>
      fixture.all.slice(0, 2).reduce((sum, member) => sum + member.served.length, 0);
    const early = living();
    await fixture.pass(10);

    expect(early).toBeLessThan(STATE_BUCKETS);
    expect(living()).toBe(STATE_BUCKETS);
  });

  it('of leader election, created once for 1e9 s, release all buckets and take them back after a minute', async () => {
    const fixture = await threeMembers();
    fixture.leaderLease = {
      holderIdentity: 'evil',
      leaseDurationSeconds: 1e9,
      acquireTime: null,
      renewTime: null,
      leaseTransitions: 0,
    };

    await fixture.pass(50);
    const early = served(fixture).length;
    await fixture.pass(15);

    expect([early, served(fixture).length]).toEqual([0, STATE_BUCKETS]);
  });
});

describe('three members next to a forged number of terms', () => {
  const leaderWith = (leaseTransitions: number): LeaseSpec => ({
    holderIdentity: '',
    leaseDurationSeconds: 1,
    acquireTime: null,
    renewTime: null,
    leaseTransitions,
  });
  it.each([MAX_TRANSITIONS - 2, MAX_TRANSITIONS - 1, MAX_TRANSITIONS])(
    'in the Lease of leader election, %i, serve all buckets, also after one is killed and joins again',
    async (forged) => {
      const fixture = new Members();
      fixture.leaderLease = leaderWith(forged);
      for (const name of ['a', 'b', 'c']) fixture.add(name);

      await fixture.pass(20);
      const early = served(fixture);
      fixture.all[2]?.kill();
      await fixture.pass(40);
      const without = fixture.all.slice(0, 2).flatMap((member) => member.served);
      fixture.add('d');
      await fixture.pass(60);

      expect(early).toEqual(ALL);
      expect(without).toHaveLength(STATE_BUCKETS);
      expect(fixture.all[3]?.served.length).toBeGreaterThanOrEqual(4);
    },
  );

  it.each([MAX_TRANSITIONS - 2, MAX_TRANSITIONS - 1, MAX_TRANSITIONS])(
    'in the Lease of a member, %i, serve all buckets, also after one is killed',
    async (forged) => {
      const fixture = await threeMembers();
      forge(fixture, 'f', { transitions: forged });
      fixture.all[2]?.kill();

      await fixture.pass(90);

      expect(fixture.all.slice(0, 2).flatMap((member) => member.served)).toHaveLength(STATE_BUCKETS);
    },
  );
});

describe('three members next to many forged Leases', () => {
  it('keep serving next to 3,000', async () => {
    const fixture = await threeMembers();
    for (let index = 0; index < 3000; index += 1) forge(fixture, `m${index}`);

    expect(await gapSeconds(fixture, 10)).toBe(0);
  });

  it('delete them after ten minutes without a renewal, ten every two seconds', async () => {
    const fixture = await threeMembers();
    for (let index = 0; index < 30; index += 1) forge(fixture, `m${index}`);

    await fixture.pass(598);
    const before = fixture.leases.size;
    await fixture.pass(9);

    expect([before, fixture.leases.size]).toEqual([33, 3]);
    expect(served(fixture)).toEqual(ALL);
  });
});

describe('a member that claims nothing', () => {
  it('counts after its second renewal', async () => {
    const fixture = new Members();
    const a = fixture.add('a');
    await fixture.pass(20);
    forge(fixture, 'f', { renewTime: '1' });
    await fixture.pass(4);
    forge(fixture, 'f', { renewTime: '2' });
    await fixture.pass(4);
    const once = a.served.length;

    forge(fixture, 'f', { renewTime: '3' });
    await fixture.pass(4);

    expect([once, a.served.length]).toEqual([STATE_BUCKETS, STATE_BUCKETS / 2]);
  });
});
