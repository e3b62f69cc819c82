import type { Lead, Shards } from '../../../src/control/election/leadership.js';
import { createMembership } from '../../../src/control/sharding/membership.js';
import { MAX_TRANSITIONS, type LeaseSpec, type SeenLease } from '../../../src/kubernetes/lease.js';
import type { MemberLease, MemberLeases, SeenMember } from '../../../src/kubernetes/member-leases.js';
import { STATE_BUCKETS } from '../../../src/kubernetes/state/state-key.js';
import { KubernetesError } from '../../../src/kubernetes/api/types.js';
import { withDeadline } from '../../../src/units/clock.js';
import { sendWithFate } from '../election/bad-network.js';
import { ProcessClock, SimulatedTime, TIMES, type Fate } from '../election/candidates.js';

type Verb = 'get' | 'list' | 'create' | 'update' | 'remove';

interface Stored extends MemberLease {
  readonly uid: number;
  readonly revision: number;
}

/** An API server with the Leases of members, and processes that share the buckets in simulated time. */
export class Members extends SimulatedTime {
  readonly all: MemberProcess[] = [];
  readonly leases = new Map<string, Stored>();
  /** The Lease of leader election; null: there is none. */
  leaderLease: LeaseSpec | null = null;
  #revision = 0;

  /** Adds a process that runs from now on. */
  add(name: string): MemberProcess {
    const member = new MemberProcess(this, name, this.all.length);
    this.all.push(member);
    return member;
  }

  /** The processes that may change a scaler of a bucket now. */
  writersOf(bucket: number): readonly MemberProcess[] {
    return this.all.filter(({ shards }) => shards.leadershipOf(bucket).mayWrite());
  }

  /** How many buckets each process serves. */
  loads(): readonly number[] {
    return this.all.map(({ served }) => served.length);
  }

  apply(verb: Verb, name: string, given: { member?: MemberLease; seen?: SeenMember }): readonly SeenMember[] {
    const known = this.leases.get(name);
    if (verb === 'get') return [];
    if (verb === 'list') return [...this.leases].map(([of, stored]) => seenOf(of, stored));
    const { leaseTransitions = 0 } = given.member?.spec ?? {};
    if (leaseTransitions > MAX_TRANSITIONS)
      throw new KubernetesError('invalid', `${verb} of Lease ${name}: ${leaseTransitions} is no int32`);
    const revision = given.seen === undefined ? null : revisionOf(given.seen);
    if (verb === 'create' ? known !== undefined : known?.revision !== revision)
      throw new KubernetesError(known === undefined ? 'not_found' : 'conflict', `${verb} of Lease ${name}`);
    if (verb === 'remove') this.leases.delete(name);
    if (given.member === undefined) return [];
    const stored = {
      ...given.member,
      uid: known?.uid ?? (this.#revision += 1),
      revision: (this.#revision += 1),
    };
    this.leases.set(name, stored);
    return [seenOf(name, stored)];
  }
}

function seenOf(name: string, { uid, revision, ...member }: Stored): SeenMember {
  const text = JSON.stringify([member, uid]);
  return { ...member, name, text, object: { metadata: { resourceVersion: String(revision) } } };
}

function revisionOf({ object }: SeenMember): number {
  return Number((object['metadata'] as { resourceVersion: string }).resourceVersion);
}

/** One replica. */
export class MemberProcess {
  readonly name: string;
  readonly clock: ProcessClock;
  readonly shards: Shards;
  readonly stop = new AbortController();
  readonly log: (readonly [string, string])[] = [];
  /** Buckets whose state was read, in order. */
  readonly loaded: number[] = [];
  /** Buckets whose state was stored before they were released, in order. */
  readonly flushed: number[] = [];
  /** What becomes of its next requests. */
  fate: (verb: Verb) => Fate = () => ({});
  /** What it does while it is a member. */
  work: Lead = (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
  readonly ended: Promise<unknown>;
  readonly #fixture: Members;

  constructor(fixture: Members, name: string, index: number) {
    this.#fixture = fixture;
    this.name = name;
    this.clock = new ProcessClock(fixture.clock);
    const to = (level: string) => (message: string) => void this.log.push([level, message]);
    this.shards = createMembership({
      client: this.#client(),
      leaderLease: {
        read: async (signal): Promise<SeenLease | null> => {
          await this.#ask('get', signal, { name: '' });
          const spec = fixture.leaderLease;
          return spec === null ? null : { spec, rawSpec: JSON.stringify(spec), object: {} };
        },
      },
      clock: this.clock,
      log: { debug: to('debug'), info: to('info'), warn: to('warn'), error: to('error') },
      times: TIMES,
      identity: `${name}_${index}`,
      address: () => `http://10.0.0.${index}:8080`,
      loadState: (bucket) => Promise.resolve(void this.loaded.push(bucket)),
      flushState: (bucket) => Promise.resolve(void this.flushed.push(bucket)),
      onServed: () => undefined,
    });
    this.ended = this.shards
      .run(this.stop.signal, (signal) => this.work(signal))
      .catch((error: unknown) => error);
  }

  get served(): readonly number[] {
    return [...Array(STATE_BUCKETS).keys()].filter((bucket) => this.shards.serves(bucket));
  }

  /** Dies: nothing of it runs any more. */
  kill(): void {
    this.clock.stop();
  }

  #client(): MemberLeases {
    const one = async (
      verb: Verb,
      signal: AbortSignal,
      request: { name: string; member?: MemberLease; seen?: SeenMember },
    ): Promise<SeenMember> => {
      const [answer] = await this.#ask(verb, signal, request);
      if (answer === undefined) throw new Error('a write answers with the Lease');
      return answer;
    };
    return {
      name: 'monitoring/promscaler',
      list: (signal) => this.#ask('list', signal, { name: '' }),
      create: (name, member, signal) => one('create', signal, { name, member }),
      update: (seen, member, signal) => one('update', signal, { name: seen.name, seen, member }),
      remove: async (seen, signal) => {
        await this.#ask('remove', signal, { name: seen.name, seen });
      },
    };
  }

  #ask(
    verb: Verb,
    signal: AbortSignal,
    request: { readonly name: string; member?: MemberLease; seen?: SeenMember },
  ): Promise<readonly SeenMember[]> {
    const ms = TIMES.renewDeadlineSeconds * (verb === 'list' ? 250 : 500);
    return withDeadline(this.clock, { ms, parent: signal }, (inner) => this.#send(verb, inner, request));
  }

  #send(
    verb: Verb,
    signal: AbortSignal,
    request: { readonly name: string; member?: MemberLease; seen?: SeenMember },
  ): Promise<readonly SeenMember[]> {
    const given = { network: this.#fixture.clock, process: this.clock, doing: `${verb} of Leases`, signal };
    return sendWithFate(this.fate(verb), given, () => this.#fixture.apply(verb, request.name, request));
  }
}

/** Three replicas that have divided the buckets. */
export async function threeMembers(): Promise<Members> {
  const fixture = new Members();
  for (const name of ['a', 'b', 'c']) fixture.add(name);
  await fixture.pass(10);
  return fixture;
}
