import { STATE_BUCKETS } from '../../kubernetes/state/state-key.js';
import type { ElectionTimes } from '../election/election-rules.js';
import type { ObservedMember } from './members.js';
import { planBuckets } from './plan-buckets.js';

/** Computes the plan of one member from what it sees, and remembers who does not do its part. */
export interface Planner {
  /** Returns the planned owner of each bucket. */
  readonly plan: (view: PlannerView) => ReadonlyMap<number, string>;
}

export interface PlannerView {
  readonly others: readonly ObservedMember[];
  /** Claims of this member. */
  readonly own: readonly number[];
  /** Claims of this member that no other one can contest. */
  readonly isOwned: (bucket: number) => boolean;
  readonly nowMs: number;
  /** When this member joined. */
  readonly joinedMs: number;
}

/** Renewals that this process has seen, before a member that claims nothing gets a share. */
const LEAST_RENEWALS = 2;
/** Members that start together count each other at once. */
const JOINING_PERIODS = 3;
/** A member claims a bucket within one or two periods after its last owner has released it. */
const CLAIM_PERIODS = 5;
/** Twice as many as can own a bucket. Further ones own nothing until others are gone. */
const MAX_COUNTED = 2 * STATE_BUCKETS;
const FIRST_REST_MS = 60_000;
const LONGEST_REST_MS = 3_600_000;

interface Idle {
  readonly untilMs: number;
  readonly restMs: number;
  readonly claims: number;
}

/**
 * Creates the planner of a member. A member without claims counts after its second renewal, and as long as it claims
 * what the plan gives it: after five periods in which a bucket was free and its planned owner did not claim it, that
 * member gets no other bucket for a minute, then for twice as long each time, up to an hour. A bucket
 * therefore has no owner for a short time only, also next to forged Leases. Source: reliability.md, W33, W36.
 */
export function createPlanner(identity: string, times: ElectionTimes): Planner {
  const periodMs = times.retryPeriodSeconds * 1000;
  /** Since when a free bucket has the same planned owner. */
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
    // A member that stops leaves several buckets free at the same time.
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
        // Two members never own a bucket: the claim of the other one is not confirmed, or forged.
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
