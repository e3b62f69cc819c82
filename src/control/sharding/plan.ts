import { fnv1a, STATE_BUCKETS } from '../../kubernetes/state/state-key.js';
import type { ElectionTimes } from '../election/election-rules.js';
import type { ObservedMember } from './members.js';

/**
 * Plans the owner of each bucket, from the view of one member. It remembers members that do not claim their planned
 * buckets.
 */
export interface Planner {
  /** Returns the planned owner of each bucket. */
  readonly plan: (view: PlannerView) => ReadonlyMap<number, string>;
}

export interface PlannerView {
  readonly others: readonly ObservedMember[];
  /** The claims of this member. */
  readonly own: readonly number[];
  /** Returns whether this member owns the bucket. Claims of other members to the bucket are then ignored. */
  readonly isOwned: (bucket: number) => boolean;
  readonly nowMs: number;
  /** When this member joined, on the monotonic clock. */
  readonly joinedMs: number;
}

/** Another member without claims gets a share only after this process has seen this many renewals of its Lease. */
const LEAST_RENEWALS = 2;
/**
 * For this many retryPeriods after this member joined, other members without claims get a share immediately, because
 * they may have joined at the same time.
 */
const JOINING_PERIODS = 3;
/**
 * After this many retryPeriods in which no member claimed a bucket, its planned owner is treated as idle. A claim
 * normally takes one or two retryPeriods.
 */
const CLAIM_PERIODS = 5;
/**
 * Limits the members in a plan to twice as many as can own a bucket. Further members own nothing until others are gone.
 */
const MAX_COUNTED = 2 * STATE_BUCKETS;
const FIRST_REST_MS = 60_000;
const LONGEST_REST_MS = 3_600_000;

interface Idle {
  readonly untilMs: number;
  readonly restMs: number;
  readonly claims: number;
}

/**
 * Creates the planner of a member. Another member without claims gets a share after its second renewal, as long as it
 * claims its planned buckets. If it has not claimed a free bucket for five periods, it gets no other bucket for a
 * minute, the next time for two minutes, and so on up to an hour. Therefore even forged Leases leave a bucket without
 * an owner for a short time only. Source: reliability.md, W33, W36.
 */
export function createPlanner(identity: string, times: ElectionTimes): Planner {
  const periodMs = times.retryPeriodSeconds * 1000;
  /** The planned owner of each free bucket, and since when it has been the planned owner. */
  const freeSince = new Map<number, { readonly owner: string; readonly ms: number }>();
  const idle = new Map<string, Idle>();

  const countedOf = ({ others, nowMs, joinedMs }: PlannerView): readonly ObservedMember[] => {
    const isJoining = nowMs - joinedMs < JOINING_PERIODS * periodMs;
    const counted = others.filter(
      ({ lease, renewals }) => isJoining || renewals >= LEAST_RENEWALS || lease.buckets.length > 0,
    );
    if (counted.length <= MAX_COUNTED) return counted;
    const byAge = (a: ObservedMember, b: ObservedMember): number =>
      a.firstMs - b.firstMs ||
      Math.sign(b.lease.buckets.length) - Math.sign(a.lease.buckets.length) ||
      (a.lease.name < b.lease.name ? -1 : 1);
    return [...counted].sort(byAge).slice(0, MAX_COUNTED);
  };

  const isIdle = (member: string, claims: number, nowMs: number): boolean => {
    const known = idle.get(member);
    if (known === undefined) return false;
    if (claims > known.claims) idle.delete(member);
    return idle.has(member) && nowMs < known.untilMs;
  };

  const noteFree = (
    plan: ReadonlyMap<number, string>,
    claims: ReadonlyMap<string, readonly number[]>,
    nowMs: number,
  ) => {
    const claimed = new Set([...claims.values()].flat());
    // A set, because a member that has stopped leaves several buckets free at once, but its exclusion must double only
    // once.
    const late = new Set<string>();
    for (const [bucket, owner] of plan) {
      const known = freeSince.get(bucket);
      if (claimed.has(bucket) || owner === identity) freeSince.delete(bucket);
      else if (known?.owner !== owner) freeSince.set(bucket, { owner, ms: nowMs });
      else if (nowMs - known.ms >= CLAIM_PERIODS * periodMs) {
        freeSince.delete(bucket);
        late.add(owner);
      }
    }
    for (const owner of late) {
      const last = idle.get(owner)?.restMs ?? 0;
      const restMs = Math.min(LONGEST_REST_MS, Math.max(FIRST_REST_MS, last * 2));
      idle.set(owner, { untilMs: nowMs + restMs, restMs, claims: claims.get(owner)?.length ?? 0 });
    }
  };

  return {
    plan: (view) => {
      const { own, isOwned, nowMs } = view;
      const claims = new Map<string, readonly number[]>();
      const resting = new Set<string>();
      for (const { lease } of countedOf(view)) {
        const member = lease.spec.holderIdentity;
        // A bucket has one owner. If this member owns the bucket, any other claim to it is unconfirmed or forged, and
        // is ignored.
        const buckets = lease.buckets.filter((bucket) => !isOwned(bucket));
        claims.set(member, buckets);
        if (isIdle(member, buckets.length, nowMs)) resting.add(member);
      }
      for (const member of idle.keys()) if (!claims.has(member)) idle.delete(member);
      claims.set(identity, own);
      const plan = planBuckets(claims, STATE_BUCKETS, resting);
      noteFree(plan, claims, nowMs);
      return plan;
    },
  };
}

/** The claimed buckets of each live member. */
export type Claims = ReadonlyMap<string, readonly number[]>;

/**
 * Returns the planned owner of each of `bucketCount` buckets. Each member owns `bucketCount / members` buckets, rounded
 * down or up. A bucket stays with the member that claims it unless that member has too many. Therefore a member that
 * leaves moves only its own buckets, and a member that joins moves only its share. New owners are chosen by rendezvous
 * hashing, so that all members compute the same plan from the same claims in any order. `resting` members get no
 * bucket, whatever they claim. Without members, the plan is empty.
 */
export function planBuckets(
  claims: Claims,
  bucketCount: number,
  resting: ReadonlySet<string> = new Set(),
): ReadonlyMap<number, string> {
  const members = [...claims.keys()].filter((member) => !resting.has(member)).sort();
  const plan = new Map<number, string>();
  if (members.length === 0) return plan;
  const kept = keptBuckets(members, { claims, bucketCount });
  const quotas = quotasOf(kept, bucketCount);
  for (const [member, buckets] of kept) {
    const best = [...buckets].sort((a, b) => scoreOf(member, b) - scoreOf(member, a) || a - b);
    for (const bucket of best.slice(0, quotas.get(member) ?? 0)) plan.set(bucket, member);
  }
  const loads = new Map(members.map((member) => [member, 0]));
  for (const member of plan.values()) loads.set(member, (loads.get(member) ?? 0) + 1);
  for (let bucket = 0; bucket < bucketCount; bucket += 1) {
    if (plan.has(bucket)) continue;
    const open = members.filter((member) => (loads.get(member) ?? 0) < (quotas.get(member) ?? 0));
    const member = highest(open, bucket);
    if (member === null) break;
    plan.set(bucket, member);
    loads.set(member, (loads.get(member) ?? 0) + 1);
  }
  return plan;
}

/** Returns which of its claimed buckets each member may keep. If two members claim a bucket, only one may keep it. */
function keptBuckets(
  members: readonly string[],
  { claims, bucketCount }: { readonly claims: Claims; readonly bucketCount: number },
): ReadonlyMap<string, readonly number[]> {
  const kept = new Map<string, number[]>(members.map((member) => [member, []]));
  for (let bucket = 0; bucket < bucketCount; bucket += 1) {
    const claimants = members.filter((member) => claims.get(member)?.includes(bucket));
    const owner = highest(claimants, bucket);
    if (owner !== null) kept.get(owner)?.push(bucket);
  }
  return kept;
}

/**
 * Returns how many buckets each member gets. Members with the most buckets get the larger share, so that no bucket
 * moves between two members that already have their shares.
 */
function quotasOf(
  kept: ReadonlyMap<string, readonly number[]>,
  bucketCount: number,
): ReadonlyMap<string, number> {
  const least = Math.floor(bucketCount / kept.size);
  const larger = bucketCount % kept.size;
  // All members with more than the larger share have the same rank, so that their order stays the same while they
  // release the surplus.
  const loadOf = (buckets: readonly number[]): number => Math.min(buckets.length, least + 1);
  const ranked = [...kept].sort(([, a], [, b]) => loadOf(b) - loadOf(a));
  return new Map(ranked.map(([member], index) => [member, least + (index < larger ? 1 : 0)]));
}

function highest(members: readonly string[], bucket: number): string | null {
  let best: string | null = null;
  for (const member of members) {
    if (best === null || scoreOf(member, bucket) > scoreOf(best, bucket)) best = member;
  }
  return best;
}

/**
 * Returns a hash of member and bucket, from 0 to 2^32-1: FNV-1a with the finalizer of MurmurHash3, because FNV-1a alone
 * mixes the last byte badly.
 */
function scoreOf(member: string, bucket: number): number {
  let hash = fnv1a(`${member}/${bucket}`);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
