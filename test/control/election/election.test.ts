import { describe, expect, it } from '@jest/globals';
import type { LeaseSpec } from '../../../src/kubernetes/lease.js';
import { Candidates } from './candidates.js';

const HELD: LeaseSpec = {
  holderIdentity: 'other-0_uuid',
  leaseDurationSeconds: 15,
  acquireTime: '2025-12-31T23:00:00.000000Z',
  renewTime: '2025-12-31T23:59:59.000000Z',
  leaseTransitions: 4,
};

describe('a candidate without a Lease', () => {
  it('creates it at once and leads, in term 0', async () => {
    const fixture = new Candidates();
    const a = fixture.add('a').start();

    await fixture.pass(0);

    expect(a.mayWrite).toBe(true);
    expect(a.terms).toEqual([`0/${a.identity}`]);
    expect(fixture.lease).toEqual({
      holderIdentity: a.identity,
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    });
  });

  it('does not lead if another candidate was faster', async () => {
    const fixture = new Candidates();
    const a = fixture.add('a').start();
    const b = fixture.add('b').start();

    await fixture.pass(60);

    expect([a.terms.length, b.terms.length]).toEqual([1, 0]);
    expect(b.logged('info')).toEqual(['standing by']);
    expect(b.logged('warn')).toEqual([]);
  });
});

describe('a candidate with an existing Lease', () => {
  it('takes a Lease without a holder, as the chart creates it: with an empty spec', async () => {
    const fixture = new Candidates();
    fixture.edit({
      holderIdentity: '',
      leaseDurationSeconds: null,
      acquireTime: null,
      renewTime: null,
      leaseTransitions: 0,
    });
    const a = fixture.add('a').start();

    await fixture.pass(0);

    expect(a.mayWrite).toBe(true);
    expect(fixture.lease).toMatchObject({ holderIdentity: a.identity, leaseTransitions: 1 });
  });

  it.each([
    [15, 14.999, 15.001],
    [7, 6.999, 7.001],
    // The record does not specify one: our own duration applies.
    [null, 14.999, 15.001],
    [0, 14.999, 15.001],
  ])(
    'takes over from a holder with a duration of %s s after it was seen for that long: not at %s s, but at %s s',
    async (leaseDurationSeconds, before, after) => {
      const fixture = new Candidates();
      fixture.edit({ ...HELD, leaseDurationSeconds });
      const a = fixture
        .add('a')
        .waits(before, after - before, 100)
        .start();

      await fixture.pass(before);
      expect(a.election.isLeading()).toBe(false);

      await fixture.pass(0.0021);
      expect(a.mayWrite).toBe(true);
      expect(a.terms).toEqual([`5/${a.identity}`]);
      expect(fixture.lease?.acquireTime).toMatch(/^2026-01-01T00:00:(15|07)\.00\d000Z$/);
    },
  );

  it.each([-3600, 3600])('uses only its own clock: the holder is %s s off', async (seconds) => {
    const fixture = new Candidates();
    const holder = fixture.add('holder');
    holder.clock.skewSeconds = seconds;
    holder.start();
    const a = fixture.add('a').start();

    await fixture.pass(120);

    expect(holder.mayWrite).toBe(true);
    expect(a.terms).toEqual([]);
  });

  it('restarts the wait with each change of the Lease, also if its renewTime is unchanged', async () => {
    const fixture = new Candidates();
    fixture.edit(HELD);
    const a = fixture.add('a').start();

    await fixture.pass(13);
    fixture.edit({ ...HELD, renewTime: 'yesterday' });
    await fixture.pass(14);
    expect(a.terms).toEqual([]);

    await fixture.pass(6);
    expect(a.terms).toHaveLength(1);
  });

  it('waits 15 s for the holder of a deleted Lease, then creates it, with the next term', async () => {
    const fixture = new Candidates();
    fixture.edit(HELD);
    const a = fixture.add('a').start();

    await fixture.pass(1);
    fixture.edit(null);
    await fixture.pass(13.9);
    expect(fixture.lease).toBeNull();

    await fixture.pass(3);
    expect(a.terms).toEqual([`5/${a.identity}`]);
  });

  it.each([
    [59, 59],
    [120, 60],
    [1_000_000_000, 60],
  ])(
    'waits for a hand-edited duration of %i s: %i s, at most four times its own 15 s',
    async (edited, seconds) => {
      const fixture = new Candidates();
      fixture.edit({ ...HELD, leaseDurationSeconds: edited });
      const a = fixture.add('a').start();

      await fixture.pass(seconds - 1);
      expect(a.terms).toEqual([]);

      await fixture.pass(3);
      expect(a.terms).toHaveLength(1);
    },
  );

  it('continues after term 2^31-1 with 1: the server accepts no more', async () => {
    const fixture = new Candidates();
    fixture.edit({ ...HELD, holderIdentity: '', leaseTransitions: 2 ** 31 - 1 });
    const a = fixture.add('a').start();

    await fixture.pass(0);

    expect(a.terms).toEqual([`1/${a.identity}`]);
  });
});

describe('the attempts of a standby', () => {
  it.each([
    [0, 2],
    [0.5, 3.2],
    [0.999999, 4.4],
  ])('come with random %s every %s s', async (chance, seconds) => {
    const fixture = new Candidates();
    fixture.edit(HELD);
    const a = fixture.add('a');
    a.clock.chance = () => chance;
    a.start();

    await fixture.pass(14);

    const times = fixture.applied.map(({ atMs }) => atMs / 1000);
    expect(times).toHaveLength(1 + Math.floor(14 / seconds));
    times.forEach((time, index) => expect(time).toBeCloseTo(index * seconds, 3));
  });
});

describe('a leader', () => {
  it('renews every 2 s by one PUT without a GET, and keeps acquireTime and transitions', async () => {
    const fixture = new Candidates();
    const a = fixture.add('a').start();
    a.clock.chance = () => 0.9;
    await fixture.pass(0);
    fixture.applied.length = 0;

    await fixture.pass(9);

    expect(fixture.applied.map(({ verb, atMs }) => `${verb} ${atMs / 1000}`)).toEqual([
      'update 2',
      'update 4',
      'update 6',
      'update 8',
    ]);
    expect(fixture.lease).toMatchObject({
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:08.000000Z',
      leaseTransitions: 0,
    });
  });

  it('reads after a PUT that failed, and never repeats that unchanged', async () => {
    const fixture = new Candidates();
    const a = fixture.add('a').start();
    await fixture.pass(1);
    // Another client labels the Lease: nothing but the resourceVersion moves.
    fixture.revision += 1;
    fixture.applied.length = 0;

    await fixture.pass(6);

    expect(fixture.applied.map(({ verb, isDone }) => `${verb} ${isDone}`)).toEqual([
      'update false',
      'get true',
      'update true',
      'update true',
    ]);
    expect(a.terms).toHaveLength(1);
  });

  it('recognizes its own renewal whose answer was lost', async () => {
    const fixture = new Candidates();
    const a = fixture.add('a').start();
    await fixture.pass(1);
    let losses = 1;
    a.fate = (verb) => (verb === 'update' && losses-- > 0 ? { lost: 'answer' } : {});

    await fixture.pass(30);

    expect(a.terms).toHaveLength(1);
    expect(a.mayWrite).toBe(true);
    expect(a.logged('warn')).toEqual(['failed to renew Lease; retrying']);
  });
});
