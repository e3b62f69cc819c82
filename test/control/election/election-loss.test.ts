import { describe, expect, it } from '@jest/globals';
import type { KubernetesErrorKind } from '../../../src/kubernetes/api/types.js';
import { Candidates } from './candidates.js';
import type { Candidate } from './candidates.js';

/** A fixture in which `a` has led for 21 s and renewed at 20 s. */
async function ledFor21Seconds(): Promise<{ readonly fixture: Candidates; readonly a: Candidate }> {
  const fixture = new Candidates();
  const a = fixture.add('a').start();
  await fixture.pass(21);
  expect(a.mayWrite).toBe(true);
  return { fixture, a };
}

const LOST = { lost: 'request' } as const;

describe('a leader that cannot renew', () => {
  it('can write until 9.999 s after its last renewal, not at 10.001 s, and is a standby from then on', async () => {
    const { fixture, a } = await ledFor21Seconds();
    a.fate = () => LOST;

    await fixture.pass(8.999);
    expect([a.mayWrite, a.election.isLeading(), a.changes]).toEqual([true, true, [true]]);

    await fixture.pass(0.002);
    expect([a.mayWrite, a.election.isLeading(), a.changes]).toEqual([false, false, [true, false]]);
    expect(a.logged('warn')).toEqual(['failed to renew Lease; retrying', 'leadership lost; standing by']);
  });

  it('counts from the start of the renewal, not from its answer 4 s later', async () => {
    const { fixture, a } = await ledFor21Seconds();
    // Sent at 22 s, answered at 26 s; those from 26 s on are lost.
    a.fate = () => (fixture.seconds < 23 ? { backMs: 4000 } : LOST);

    await fixture.pass(10.999);
    expect(a.mayWrite).toBe(true);

    await fixture.pass(0.002);
    expect(a.mayWrite).toBe(false);
  });

  it('stays the leader even if each renewal takes 4 s', async () => {
    const { fixture, a } = await ledFor21Seconds();
    const b = fixture.add('b').start();
    a.fate = () => ({ thereMs: 2000, backMs: 2000 });
    let isOff = false;
    fixture.onStep = () => (isOff ||= !a.mayWrite);

    await fixture.pass(120);

    expect([isOff, a.terms.length, b.terms.length]).toEqual([false, 1, 0]);
  });

  it.each<KubernetesErrorKind>(['server_error', 'rate_limited', 'unauthorized', 'forbidden', 'bad_answer'])(
    'stays the leader during 7 s of %s, and retries every 2 s',
    async (refused) => {
      const { fixture, a } = await ledFor21Seconds();
      a.fate = () => (fixture.seconds < 28 ? { refused } : {});

      await fixture.pass(19);

      expect(a.mayWrite).toBe(true);
      expect(a.terms).toHaveLength(1);
      expect(a.logged('warn')).toHaveLength(1);
    },
  );

  it('ends its work, and begins a new term with a new epoch when the server recovers', async () => {
    const { fixture, a } = await ledFor21Seconds();
    const ended: number[] = [];
    const work = a.work;
    a.work = async (signal) => {
      await work(signal);
      ended.push(fixture.seconds);
    };
    a.fate = () => (fixture.seconds < 50 ? LOST : {});

    await fixture.pass(60);

    expect(a.terms).toEqual([`0/${a.identity}`, `1/${a.identity}`]);
    expect(a.election.epoch()).toBe(`1/${a.identity}`);
    expect(a.changes).toEqual([true, false, true]);
  });

  it('does not contend again before its work has ended', async () => {
    const { fixture, a } = await ledFor21Seconds();
    a.stop.abort();
    await fixture.pass(1);
    let isEnded = false;
    const b = fixture.add('b');
    b.work = async (signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      await new Promise<void>((resolve) => b.clock.after(5000, resolve));
      isEnded = true;
    };
    b.start();
    await fixture.pass(1);
    b.fate = () => (fixture.seconds < 40 ? LOST : {});
    await fixture.passUntil(() => !b.election.isLeading());
    b.fate = () => ({});

    await fixture.passUntil(() => b.terms.length === 2);

    expect(isEnded).toBe(true);
  });
});

describe('a leader whose Lease another candidate holds', () => {
  it.each([
    ['another holder', 'intruder', 'intruder holds the Lease'],
    ['no holder', '', 'another client has released the Lease'],
  ])('becomes a standby as soon as it reads %s, with 6 s left', async (_, holderIdentity) => {
    const { fixture, a } = await ledFor21Seconds();
    if (fixture.lease === null) throw new Error('there is a Lease');
    fixture.edit({ ...fixture.lease, holderIdentity });

    // The PUT at 22 s conflicts, the GET at 24 s reads it.
    await fixture.pass(2.999);
    expect(a.mayWrite).toBe(true);
    await fixture.pass(0.002);

    expect(a.mayWrite).toBe(false);
  });

  it('becomes a standby if the Lease is deleted, and recreates it in term 1', async () => {
    const { fixture, a } = await ledFor21Seconds();
    fixture.edit(null);

    await fixture.pass(3.001);
    expect(a.mayWrite).toBe(false);

    await fixture.pass(2);
    expect(a.terms).toEqual([`0/${a.identity}`, `1/${a.identity}`]);
  });
});

describe('the clocks of a leader', () => {
  it('that jump forward by 9 s leave it 1 s less; by 11 s they end the term within 2 s', async () => {
    const { fixture, a } = await ledFor21Seconds();
    a.clock.skewSeconds = 8.998;
    expect(a.mayWrite).toBe(true);
    a.clock.skewSeconds = 9.001;
    expect(a.mayWrite).toBe(false);

    await fixture.pass(1.001);
    expect(a.election.isLeading()).toBe(false);
    await fixture.pass(2.001);
    expect(a.terms).toHaveLength(2);
    expect(a.mayWrite).toBe(true);
  });

  it('that jump back by an hour change nothing: the monotonic clock counts', async () => {
    const { fixture, a } = await ledFor21Seconds();
    a.clock.skewSeconds = -3600;
    a.fate = () => LOST;

    await fixture.pass(8.999);
    expect(a.mayWrite).toBe(true);
    await fixture.pass(0.002);
    expect(a.mayWrite).toBe(false);
  });

  it('can stop while its machine is paused for 60 s: the wall clock shows the pause at once', async () => {
    const { fixture, a } = await ledFor21Seconds();
    const b = fixture.add('b').start();
    a.clock.stop();
    await fixture.passUntil(() => b.mayWrite);

    a.clock.goOn(true);

    expect(a.clock.monotonicMs()).toBe(21_000);
    expect(a.mayWrite).toBe(false);
    await fixture.pass(2);
    expect(a.election.isLeading()).toBe(false);
    expect(b.mayWrite).toBe(true);
  });

  it.each([5, 12, 16, 60])(
    'let it write after a stop of %s s only while no other candidate can',
    async (seconds) => {
      const { fixture, a } = await ledFor21Seconds();
      const b = fixture.add('b').start();
      let isBroken = false;
      fixture.onStep = () => (isBroken ||= a.mayWrite && b.mayWrite);
      a.clock.stop();
      await fixture.pass(seconds);

      a.clock.goOn();
      const mayWriteAtOnce = a.mayWrite;
      await fixture.pass(60);

      // Not at once after 5 s, either: a process that was late by more than 1 s has to be on time for a while first.
      expect(mayWriteAtOnce).toBe(false);
      expect(isBroken).toBe(false);
      expect([a, b].filter(({ mayWrite }) => mayWrite)).toHaveLength(1);
      expect(a.terms).toHaveLength(seconds === 5 ? 1 : seconds === 12 ? 2 : 1);
    },
  );
});

describe('an event loop that is late', () => {
  it('by 0.999 s lets a leader write, by 1.001 s only after 500 ms on time', async () => {
    const { fixture, a } = await ledFor21Seconds();
    // Ticks are at every 500 ms; the next one is due at 21.5 s.
    a.clock.stop();
    await fixture.pass(1.499);
    expect(a.mayWrite).toBe(true);
    await fixture.pass(0.002);
    expect(a.mayWrite).toBe(false);

    a.clock.goOn();
    await fixture.pass(0.49);
    expect(a.mayWrite).toBe(false);
    await fixture.pass(0.02);
    expect(a.mayWrite).toBe(true);
  });

  it('delays a write until it is on time: by 500 to 750 ms, at most by 3 s', async () => {
    const { fixture, a } = await ledFor21Seconds();
    a.clock.stop();
    await fixture.pass(3);
    a.clock.goOn();
    let isSteady = false;
    void a.election.untilSteady().then(() => (isSteady = true));

    await fixture.pass(0.49);
    expect(isSteady).toBe(false);
    await fixture.pass(0.3);
    expect([isSteady, a.mayWrite]).toEqual([true, true]);
  });
});

describe('the reason why a candidate must not write', () => {
  it('names the leader once it has read the Lease; before, it is only not the leader', async () => {
    const { fixture, a } = await ledFor21Seconds();
    const b = fixture.add('b');
    expect(b.election.whyNoWrites()).toBe('this replica is not the leader');

    b.start();
    await fixture.pass(3);

    expect(b.election.whyNoWrites()).toBe(`another replica is the leader: ${a.identity}`);
    expect(a.election.whyNoWrites()).toBeNull();
  });

  it('is the late renewal while no other replica leads', async () => {
    const { a } = await ledFor21Seconds();

    a.clock.skewSeconds = 9.001;

    expect(a.election.whyNoWrites()).toBe(
      'the Lease was not renewed within 10 s, so another replica may take it over',
    );
  });

  it('is the event loop that was blocked for 1.2 s', async () => {
    const { fixture, a } = await ledFor21Seconds();
    a.clock.stop();

    await fixture.pass(1.7);

    expect(a.election.whyNoWrites()).toBe(
      'the event loop was blocked for 1.2 s, but at most 1 s are allowed',
    );
  });
});

describe('the liveness of a leader', () => {
  it('is healthy at 34.9 s without a renewal while it believes that it leads, and unhealthy at 35.1 s', async () => {
    const { fixture, a } = await ledFor21Seconds();
    a.clock.stop();

    await fixture.pass(33.9);
    expect(a.election.healthProblems()).toEqual([]);
    await fixture.pass(0.2);
    expect(a.election.healthProblems()).toEqual([
      'this replica is the leader, but has not renewed the Lease for 35 s',
    ]);
  });

  it('does not concern a standby, however long the server is unavailable', async () => {
    const { fixture, a } = await ledFor21Seconds();
    a.fate = () => LOST;

    await fixture.pass(600);

    expect(a.election.isLeading()).toBe(false);
    expect(a.election.healthProblems()).toEqual([]);
    // The failing attempts of ten minutes are logged once.
    expect(a.logged('warn')).toHaveLength(3);
  });
});
