import { microTime, type LeaseSpec } from '../../kubernetes/lease.js';
import type { MemberLeases, SeenMember } from '../../kubernetes/member-leases.js';
import type { Clock } from '../../units/clock.js';
import {
  isWithin,
  momentOf,
  releasedSpec,
  type ElectionTimes,
  type Moment,
} from '../election/election-rules.js';
import { createRefusalGuard } from '../election/election-refusal.js';
import { leaseNameOf } from './members.js';

export interface OwnLease {
  readonly name: string;
  /** Publishes the buckets and renews the Lease. Throws `KubernetesError`, although the Lease may have been written. */
  readonly publish: (claim: PublishedClaim, signal: AbortSignal) => Promise<void>;
  /** Publishes that this member claims no bucket, so that other members do not wait until the Lease expires. */
  readonly release: (signal: AbortSignal) => Promise<void>;
  /**
   * Compares the Lease of this member in a list with the last write; `lease` null: the list does not contain it.
   * Returns why the Lease is lost; null: it is held.
   */
  readonly found: (lease: SeenMember | null) => string | null;
  /**
   * Returns whether the last successful write was sent less than renewDeadline ago, on the monotonic and on the wall
   * clock.
   */
  readonly isValid: () => boolean;
  /** Returns when the last successful write since `forget` was sent; null: there was none. */
  readonly since: () => Moment | null;
  /** Makes `isValid` return false until the next successful write. */
  readonly forget: () => void;
}

export interface PublishedClaim {
  readonly buckets: readonly number[];
  /** The number of the newest claim, which is written to `leaseTransitions`. */
  readonly number: number;
}

export interface OwnLeaseOptions {
  readonly client: MemberLeases;
  readonly clock: Clock;
  readonly times: ElectionTimes;
  readonly identity: string;
  /** Returns the URL at which other replicas reach the HTTP server of this process; null: there is no server. */
  readonly address: () => string | null;
}

export function createOwnLease({ client, clock, times, identity, address }: OwnLeaseOptions): OwnLease {
  const name = leaseNameOf(client.name, identity);
  let seen: SeenMember | null = null;
  let since: Moment | null = null;
  let acquireTime: string | null = null;

  const write = async (claim: PublishedClaim, spec: LeaseSpec, signal: AbortSignal): Promise<void> => {
    const member = { spec, buckets: claim.buckets, address: address() };
    seen = await (seen === null ? client.create(name, member, signal) : client.update(seen, member, signal));
  };

  return {
    name,
    publish: async (claim, signal) => {
      const begun = momentOf(clock);
      const renewTime = microTime(begun.wall);
      acquireTime ??= renewTime;
      const { leaseDurationSeconds } = times;
      const spec = { holderIdentity: identity, leaseDurationSeconds, acquireTime, renewTime };
      await write(claim, { ...spec, leaseTransitions: claim.number }, signal);
      since = begun;
    },
    release: async (signal) => {
      if (seen === null) return;
      const spec = releasedSpec(seen.spec, clock.now());
      await write({ buckets: [], number: spec.leaseTransitions }, spec, signal);
    },
    found: (lease) => {
      const wasWritten = since !== null;
      seen = lease;
      if (lease === null) return wasWritten ? 'the membership Lease was deleted' : null;
      const holder = lease.spec.holderIdentity;
      return holder === identity ? null : 'another client has changed the holder of the membership Lease';
    },
    isValid: () => since !== null && isWithin(clock, since, times.renewDeadlineSeconds * 1000),
    since: () => since,
    forget: () => {
      since = null;
      acquireTime = null;
    },
  };
}

type Verb = 'create' | 'update';

/**
 * Wraps the client with a refusal guard: a write that was never allowed, and was forbidden for 15 s and 4 attempts,
 * throws `ElectionRefusedError`. A forbidden list is only retried: a new replica then waits, and other replicas
 * continue.
 */
export function withMemberRefusals(client: MemberLeases, clock: Clock): MemberLeases {
  const guard = createRefusalGuard<Verb>(clock, (verb, refusal) =>
    refusalMessage(verb, client.name, refusal),
  );
  return {
    ...client,
    create: (name, member, signal) => guard('create', () => client.create(name, member, signal)),
    update: (seen, member, signal) => guard('update', () => client.update(seen, member, signal)),
  };
}

function refusalMessage(verb: Verb, lease: string, refusal: string): string {
  const [namespace = ''] = lease.split('/');
  return (
    `sharding is not possible: verb ${verb} on leases (coordination.k8s.io) in namespace ${namespace} is not allowed. ` +
    'Set the chart values rbac.create: true and sharding.enabled: true to create the permission, ' +
    `or set sharding.enabled: false in the service config to elect one leader instead. (${refusal})`
  );
}
