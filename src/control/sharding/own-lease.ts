import { microTime, type LeaseSpec } from '../../kubernetes/lease.js';
import type { MemberLeases, SeenMember } from '../../kubernetes/members/member-leases.js';
import type { Clock } from '../../units/clock.js';
import { elapsedMs, momentOf, type ElectionTimes, type Moment } from '../election/election-rules.js';

/** This process's own membership Lease. */
export interface OwnLease {
  readonly name: string;
  /** Publishes the buckets, and renews. Throws `KubernetesError`; the Lease may then have been written. */
  readonly publish: (claim: PublishedClaim, signal: AbortSignal) => Promise<void>;
  /** Empties the Lease, so that others need not wait until it expires. */
  readonly release: (signal: AbortSignal) => Promise<void>;
  /** Takes the Lease as a list shows it; null: it does not exist. Returns why it is lost; null: it is not. */
  readonly found: (lease: SeenMember | null) => string | null;
  /** Whether the last successful write began less than renewDeadline ago, on both clocks. */
  readonly isValid: () => boolean;
  /** Start of the last successful write; null: there is none since `forget`. */
  readonly since: () => Moment | null;
  /** Ends the validity; the next write starts another one. */
  readonly forget: () => void;
}

export interface PublishedClaim {
  readonly buckets: readonly number[];
  /** Of the newest claim, `leaseTransitions`. */
  readonly number: number;
}

export interface OwnLeaseOptions {
  readonly client: MemberLeases;
  readonly clock: Clock;
  readonly times: ElectionTimes;
  readonly identity: string;
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
      const renewTime = microTime(clock.now());
      const spec = { ...seen.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime };
      await write({ buckets: [], number: spec.leaseTransitions }, spec, signal);
    },
    found: (lease) => {
      const wasWritten = since !== null;
      seen = lease;
      if (lease === null) return wasWritten ? 'the membership Lease was deleted' : null;
      const holder = lease.spec.holderIdentity;
      return holder === identity ? null : 'another client has changed the holder of the membership Lease';
    },
    isValid: () => since !== null && elapsedMs(clock, since) < times.renewDeadlineSeconds * 1000,
    since: () => since,
    forget: () => {
      since = null;
      acquireTime = null;
    },
  };
}

/** `promscaler-UUID`: an identity is `POD_UUID`. */
function leaseNameOf(lease: string, identity: string): string {
  return `${lease.split('/').at(-1) ?? ''}-${identity.split('_').at(-1) ?? ''}`;
}
