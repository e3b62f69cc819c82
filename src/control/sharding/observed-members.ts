import type { SeenMember } from '../../kubernetes/members/member-leases.js';
import type { ElectionTimes } from '../election/election-rules.js';

/** A member's Lease as last read. */
export interface ObservedMember {
  readonly lease: SeenMember;
  /** First read of this version of the Lease, on the monotonic clock of this process. */
  readonly atMs: number;
}

/** By name of the Lease. */
export type ObservedMembers = ReadonlyMap<string, ObservedMember>;

/**
 * Returns the duration of a member's Lease in milliseconds. A duration of 0, which no API server accepts, counts as
 * unset.
 */
function durationMs({ spec }: SeenMember, times: ElectionTimes): number {
  const seconds = spec.leaseDurationSeconds === 0 ? null : spec.leaseDurationSeconds;
  return (seconds ?? times.leaseDurationSeconds) * 1000;
}

/**
 * Returns whether a member may still own buckets: it has not released its Lease, and this process has seen the Lease
 * change within the duration of the Lease. Times in the Lease are ignored, because they come from another clock.
 * Source: reliability.md, W27.
 */
export function isLive({ lease, atMs }: ObservedMember, nowMs: number, times: ElectionTimes): boolean {
  return lease.spec.holderIdentity !== '' && nowMs - atMs < durationMs(lease, times);
}

/**
 * Returns the observations after a list. An unchanged Lease keeps its time. A live member whose Lease is missing counts
 * until the Lease would expire, because deleting a Lease does not shorten the wait.
 */
export function observeMembers(
  before: ObservedMembers,
  listed: readonly SeenMember[],
  { nowMs, times }: { readonly nowMs: number; readonly times: ElectionTimes },
): ObservedMembers {
  const next = new Map<string, ObservedMember>();
  for (const lease of listed) {
    const known = before.get(lease.name);
    next.set(lease.name, known?.lease.text === lease.text ? { ...known, lease } : { lease, atMs: nowMs });
  }
  for (const [name, observed] of before)
    if (!next.has(name) && isLive(observed, nowMs, times)) next.set(name, observed);
  return next;
}

/** Returns the live members except the owner of the Lease `own`. */
export function liveOthers(
  members: ObservedMembers,
  { own, nowMs, times }: { readonly own: string; readonly nowMs: number; readonly times: ElectionTimes },
): readonly SeenMember[] {
  return [...members]
    .filter(([name, observed]) => name !== own && isLive(observed, nowMs, times))
    .map(([, { lease }]) => lease);
}

const RELEASED_MS = 60_000;
const EXPIRED_MS = 600_000;

/** Returns a Lease to delete: released for a minute, or not renewed for ten minutes; null: none. */
export function findStale(members: ObservedMembers, own: string, nowMs: number): SeenMember | null {
  for (const [name, { lease, atMs }] of members) {
    const keptMs = lease.spec.holderIdentity === '' ? RELEASED_MS : EXPIRED_MS;
    if (name !== own && nowMs - atMs >= keptMs) return lease;
  }
  return null;
}

const MAX_NUMBER = 2 ** 31 - 1;

/**
 * Returns the number of a new claim, above all earlier numbers, so that the epochs of a bucket increase from owner to
 * owner.
 */
export function nextNumber(members: ObservedMembers): number {
  const numbers = [...members.values()].map(({ lease }) => lease.spec.leaseTransitions);
  return (Math.max(0, ...numbers) % MAX_NUMBER) + 1;
}
