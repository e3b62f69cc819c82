import { KubernetesError } from '../../kubernetes/api/types.js';
import { MAX_TRANSITIONS, type LeaseClient } from '../../kubernetes/lease.js';
import type { MemberLeases, SeenMember } from '../../kubernetes/member-leases.js';
import type { Clock } from '../../units/clock.js';
import type { Log } from '../../units/log.js';
import {
  durationMs,
  mayAcquire,
  observeLease,
  type ElectionTimes,
  type LeaseObservation,
} from '../election/election-rules.js';

/** The Lease of a member as last read. */
export interface ObservedMember {
  readonly lease: SeenMember;
  /** When this version of the Lease was first read, on the monotonic clock of this process. */
  readonly atMs: number;
  /** When any version of the Lease was first read. */
  readonly firstMs: number;
  /** Number of versions of the Lease that were read after the first one. */
  readonly renewals: number;
}

/** Members by the name of their Lease. */
export type ObservedMembers = ReadonlyMap<string, ObservedMember>;

/** Returns the name of a member's Lease: `LEASE-UUID`, where UUID is the UUID of the identity `POD_UUID`. */
export function leaseNameOf(lease: string, identity: string): string {
  return `${lease.split('/').at(-1) ?? ''}-${identity.split('_').at(-1) ?? ''}`;
}

/**
 * Returns whether a member may still own buckets: it has not released its Lease, and this process has seen the Lease
 * change within the duration of the Lease. Times in the Lease are ignored, because they come from another clock.
 * Source: reliability.md, W27.
 */
function isLive({ lease, atMs }: ObservedMember, nowMs: number, times: ElectionTimes): boolean {
  return lease.spec.holderIdentity !== '' && nowMs - atMs < durationMs(lease.spec, times);
}

/**
 * Returns the observations after a list. An unchanged Lease keeps the time of its first read. If the Lease of a live
 * member is missing, the member is kept until its Lease would have expired: deleting a Lease does not shorten the wait.
 */
export function observeMembers(
  before: ObservedMembers,
  listed: readonly SeenMember[],
  { nowMs, times }: { readonly nowMs: number; readonly times: ElectionTimes },
): ObservedMembers {
  const next = new Map<string, ObservedMember>();
  for (const lease of listed) {
    const known = before.get(lease.name);
    if (known === undefined) next.set(lease.name, { lease, atMs: nowMs, firstMs: nowMs, renewals: 0 });
    else if (known.lease.text === lease.text) next.set(lease.name, { ...known, lease });
    else next.set(lease.name, { ...known, lease, atMs: nowMs, renewals: known.renewals + 1 });
  }
  for (const [name, observed] of before)
    if (!next.has(name) && isLive(observed, nowMs, times)) next.set(name, observed);
  return next;
}

/**
 * Returns the live members except the one that owns the Lease `own`. Ignores a Lease that is not named after its
 * holder, so that no client can claim the identity of another member.
 */
export function liveOthers(
  members: ObservedMembers,
  given: {
    readonly own: string;
    /** The name of the Lease of leader election. The names of member Leases begin with it. */
    readonly of: string;
    readonly nowMs: number;
    readonly times: ElectionTimes;
  },
): readonly ObservedMember[] {
  return [...members].flatMap(([name, observed]) => {
    const isNamed = name === leaseNameOf(given.of, observed.lease.spec.holderIdentity);
    return name !== given.own && isNamed && isLive(observed, given.nowMs, given.times) ? [observed] : [];
  });
}

const RELEASED_MS = 60_000;
const EXPIRED_MS = 600_000;
/** Limits the deletions after one list, because another client may have created thousands of Leases. */
const MAX_REMOVED = 10;

/** Returns Leases to delete, at most ten: those released a minute ago or not renewed for ten minutes. */
function findStale(members: ObservedMembers, own: string, nowMs: number): readonly SeenMember[] {
  const stale: SeenMember[] = [];
  for (const [name, { lease, atMs }] of members) {
    const keptMs = lease.spec.holderIdentity === '' ? RELEASED_MS : EXPIRED_MS;
    if (name !== own && nowMs - atMs >= keptMs && stale.length < MAX_REMOVED) stale.push(lease);
  }
  return stale;
}

/**
 * Returns the number of a new claim, which is written to its Lease as `leaseTransitions`. It is above all numbers of
 * members and of the leader, so that the epochs of a bucket increase from owner to owner. A Lease with the largest
 * possible number is ignored: only another client writes that number, and the API server would reject a larger one.
 * After its own largest number, a member starts again with 1.
 */
export function nextNumber(
  members: ObservedMembers,
  { own, leader }: { readonly own: number; readonly leader: number },
): number {
  if (own >= MAX_TRANSITIONS) return 1;
  const others = [...members.values()].map(({ lease }) => lease.spec.leaseTransitions);
  let most = own;
  for (const number of [leader, ...others]) if (number < MAX_TRANSITIONS) most = Math.max(most, number);
  return most + 1;
}

/** Deletes Leases of former members, if there are any. Never throws `KubernetesError`. */
export async function removeStale(
  members: ObservedMembers,
  given: { readonly client: MemberLeases; readonly log: Log; readonly own: string; readonly nowMs: number },
  signal: AbortSignal,
): Promise<void> {
  const { client, log, own, nowMs } = given;
  for (const stale of findStale(members, own, nowMs)) {
    try {
      await client.remove(stale, signal);
    } catch (error) {
      // Either the delete permission is missing, or the member is back. The deletion is attempted again after the next
      // list.
      if (!(error instanceof KubernetesError)) throw error;
      log.debug('failed to delete the Lease of a former member', { lease: stale.name, error: error.message });
      return;
    }
  }
}

/** The leader among replicas without sharding. During a rolling update, such replicas run next to members. */
export interface ElectedLeader {
  /** Reads the Lease of leader election. Throws `KubernetesError`. */
  readonly observe: (signal: AbortSignal) => Promise<void>;
  /** Returns whether, according to the last read, the Lease has a holder that may still lead. */
  readonly isLive: () => boolean;
  /** Returns `leaseTransitions` of the last read; 0: there is no Lease. */
  readonly transitions: () => number;
}

export function createElectedLeader(
  client: Pick<LeaseClient, 'read'>,
  { clock, times }: { readonly clock: Clock; readonly times: ElectionTimes },
): ElectedLeader {
  let known: LeaseObservation | null = null;
  return {
    observe: async (signal) => {
      const seen = await client.read(signal);
      // If the Lease was deleted, its last observation is kept, because a deletion does not shorten the wait.
      if (seen !== null) known = observeLease(known, seen, clock.monotonicMs());
    },
    isLive: () => !mayAcquire(known, { identity: '', nowMs: clock.monotonicMs(), times }),
    transitions: () => known?.spec.leaseTransitions ?? 0,
  };
}
