import { describe, expect, it } from '@jest/globals';
import { ElectionRefusedError } from '../../../src/control/election/election-refusal.js';
import { newIdentity } from '../../../src/control/election/election-rules.js';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import type { KubernetesErrorKind } from '../../../src/kubernetes/api/types.js';
import { Candidates } from './candidates.js';
import type { Candidate } from './candidates.js';

/** `a` leads since second 0 and `b` is a standby since second 1. */
async function leaderAndStandby(): Promise<{
  readonly fixture: Candidates;
  readonly a: Candidate;
  readonly b: Candidate;
}> {
  const fixture = new Candidates();
  const a = fixture.add('a').start();
  await fixture.pass(1);
  const b = fixture.add('b').start();
  await fixture.pass(1);
  return { fixture, a, b };
}

describe('after the leader was killed', () => {
  it.each([0, 0.3, 0.7, 0.999_999])(
    'another candidate leads within 23.8 s, not before 15 s less the last renewal, with random %s',
    async (chance) => {
      for (const killedAt of [2, 7.9, 8.1, 11.3, 30]) {
        const { fixture, a, b } = await leaderAndStandby();
        b.clock.chance = () => chance;
        await fixture.pass(killedAt);
        a.kill();

        const seconds = await fixture.passUntil(() => b.mayWrite);

        expect(seconds).toBeLessThanOrEqual(23.8);
        expect(seconds).toBeGreaterThanOrEqual(13);
        expect(b.terms).toEqual([`1/${b.identity}`]);
      }
    },
  );
});

describe('a leader that is stopped', () => {
  it.each([0, 0.999_999])('hands over within 4.4 s, with random %s', async (chance) => {
    const { fixture, a, b } = await leaderAndStandby();
    b.clock.chance = () => chance;
    await fixture.pass(20);
    a.stop.abort();

    const seconds = await fixture.passUntil(() => b.mayWrite);

    expect(seconds).toBeLessThanOrEqual(4.4);
    expect(await a.ended).toBeUndefined();
    expect(fixture.lease).toMatchObject({ holderIdentity: b.identity, leaseTransitions: 1 });
  });

  it('empties the holder, sets the duration to 1 s, and keeps the transitions', async () => {
    const { fixture, a } = await leaderAndStandby();
    await fixture.pass(8.5);
    a.stop.abort();

    await fixture.pass(0);

    expect(fixture.lease).toEqual({
      holderIdentity: '',
      leaseDurationSeconds: 1,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:10.500000Z',
      leaseTransitions: 0,
    });
    expect([a.mayWrite, a.election.isLeading()]).toEqual([false, false]);
  });

  it('releases the Lease only when its work has ended, after 4 s, and can write until then', async () => {
    const fixture = new Candidates();
    const a = fixture.add('a');
    const seen: boolean[] = [];
    a.work = async (signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      for (let second = 1; second <= 4; second += 1) {
        await new Promise<void>((resolve) => a.clock.after(1000, resolve));
        seen.push(a.mayWrite);
      }
    };
    a.start();
    await fixture.pass(1);
    a.stop.abort();

    await fixture.pass(3.9);
    expect(fixture.lease?.holderIdentity).toBe(a.identity);
    await fixture.pass(0.2);

    expect(fixture.lease?.holderIdentity).toBe('');
    expect(seen).toEqual([true, true, true, true]);
  });

  it('keeps the Lease if a PATCH is still in flight when its work has ended: the Lease expires', async () => {
    const { fixture, a, b } = await leaderAndStandby();
    await fixture.pass(20);
    a.isBusy = true;
    a.stop.abort();

    await fixture.pass(10);
    expect(fixture.lease?.holderIdentity).toBe(a.identity);
    expect(a.logged('warn')).toHaveLength(1);
    expect(a.mayWrite).toBe(false);

    await fixture.pass(14);
    expect(b.mayWrite).toBe(true);
  });

  it('reads the Lease again and releases it if that was modified meanwhile', async () => {
    const { fixture, a } = await leaderAndStandby();
    fixture.revision += 1;
    a.stop.abort();

    await fixture.pass(0);

    expect(fixture.lease?.holderIdentity).toBe('');
  });

  it('does not modify a Lease that another candidate holds by now', async () => {
    const { fixture, a } = await leaderAndStandby();
    if (fixture.lease === null) throw new Error('there is a Lease');
    fixture.edit({ ...fixture.lease, holderIdentity: 'intruder' });
    a.stop.abort();

    await fixture.pass(0);

    expect(fixture.lease.holderIdentity).toBe('intruder');
    expect(a.logged('warn')).toEqual([]);
  });

  it('ends after 3 s if the server does not answer', async () => {
    const { fixture, a } = await leaderAndStandby();
    a.fate = () => ({ lost: 'request' });
    let isEnded = false;
    void a.ended.then(() => (isEnded = true));
    a.stop.abort();

    await fixture.pass(2.9);
    expect(isEnded).toBe(false);
    await fixture.pass(0.2);

    expect(isEnded).toBe(true);
    expect(a.logged('warn')).toEqual(['failed to release Lease; followers wait until the Lease expires']);
  });
});

describe('a leader whose work fails', () => {
  it('releases the Lease, so that another candidate can try', async () => {
    const fixture = new Candidates();
    const a = fixture.add('a');
    a.work = () => Promise.reject(new Error('the state cannot be read'));
    a.start();
    await fixture.pass(0.5);
    const b = fixture.add('b').start();

    await fixture.pass(1);

    expect(a.logged('error')).toEqual(['work of the leader failed: internal error']);
    expect(b.mayWrite).toBe(true);
    await fixture.pass(30);
    expect(a.terms).toHaveLength(1);
  });
});

describe('a forbidden request', () => {
  it.each([
    [
      'get',
      'verb get on leases (coordination.k8s.io) named promscaler in namespace monitoring is not allowed',
    ],
    [
      'create',
      'there is no Lease promscaler in namespace monitoring, and verb create on leases (coordination.k8s.io) is not allowed there',
    ],
  ] as const)('from the start ends the election with an explanation: %s', async (verb, sentence) => {
    const fixture = new Candidates();
    const a = fixture.add('a');
    a.fate = (asked) => (asked === verb ? { refused: 'forbidden' } : {});
    a.start();

    await fixture.pass(14.9);
    const early = a.logged('warn');
    await fixture.pass(5);

    const error = await a.ended;
    expect(early).toEqual(['failed to acquire Lease; standing by']);
    expect(error).toBeInstanceOf(ElectionRefusedError);
    expect(String(error)).toContain(sentence);
    expect(String(error)).toMatch(/Set the chart value rbac\.create: true .* leaderElection\.enabled: false/);
  });

  it('from the first update on ends it and the work, too', async () => {
    const fixture = new Candidates();
    const a = fixture.add('a');
    let isEnded = false;
    a.work = async (signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      isEnded = true;
    };
    a.fate = (asked) => (asked === 'update' ? { refused: 'forbidden' } : {});
    a.start();

    await fixture.pass(30);

    expect(await a.ended).toBeInstanceOf(ElectionRefusedError);
    expect([isEnded, a.mayWrite]).toEqual([true, false]);
  });

  it.each(['get', 'create', 'update'] as const)(
    'for 14 s from the start, as by a server that has just started, ends nothing: %s',
    async (verb) => {
      const fixture = new Candidates();
      const a = fixture.add('a');
      a.fate = (asked) => (asked === verb && fixture.seconds < 14 ? { refused: 'forbidden' } : {});
      a.start();

      await fixture.pass(40);

      expect(a.mayWrite).toBe(true);
    },
  );

  it('now and then, between failures of another kind, ends nothing', async () => {
    const fixture = new Candidates();
    const a = fixture.add('a');
    let count = 0;
    a.fate = () => {
      count += 1;
      return fixture.seconds < 60 ? { refused: count % 3 === 0 ? 'connection' : 'forbidden' } : {};
    };
    a.start();

    await fixture.pass(70);

    expect(a.mayWrite).toBe(true);
  });

  it('when a standby takes over is retried', async () => {
    const { fixture, a, b } = await leaderAndStandby();
    b.fate = (verb) => (verb === 'update' && fixture.seconds < 60 ? { refused: 'forbidden' } : {});
    a.kill();

    await fixture.pass(57);
    expect(b.logged('warn')).toEqual(['failed to acquire Lease; standing by']);

    await fixture.pass(5);
    expect(b.mayWrite).toBe(true);
  });

  it('after an allowed one is retried', async () => {
    const { fixture, a, b } = await leaderAndStandby();
    a.fate = () => (fixture.seconds < 60 ? { refused: 'forbidden' } : {});
    b.fate = a.fate;

    await fixture.pass(70);

    expect([a, b].filter(({ mayWrite }) => mayWrite)).toHaveLength(1);
  });

  it.each<KubernetesErrorKind>(['connection', 'timeout', 'unauthorized', 'server_error', 'not_found'])(
    'does not end the election while the answer is %s: it stays a follower until the server responds',
    async (refused) => {
      const fixture = new Candidates();
      const a = fixture.add('a');
      a.fate = () => (fixture.seconds < 60 ? { refused } : {});
      a.start();

      await fixture.pass(59);
      expect(a.terms).toEqual([]);
      expect(a.logged('warn')).toEqual(['failed to acquire Lease; standing by']);

      await fixture.pass(4);
      expect(a.mayWrite).toBe(true);
    },
  );
});

describe('an identity', () => {
  it('is the name of the pod and a uuid of version 4, a new one at each start', () => {
    const identities = Array.from({ length: 200 }, () => newIdentity('promscaler-0', SYSTEM_CLOCK));

    expect(new Set(identities).size).toBe(200);
    for (const identity of identities)
      expect(identity).toMatch(
        /^promscaler-0_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/,
      );
  });
});
