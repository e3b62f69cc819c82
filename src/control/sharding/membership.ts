import type { LeaseClient } from '../../kubernetes/lease.js';
import { KubernetesError } from '../../kubernetes/api/types.js';
import { createAlarm, endedWithin, sleep, withDeadline } from '../../units/clock.js';
import type { Log } from '../../units/log.js';
import { retryDelayMs, STUCK_SECONDS } from '../election/election-rules.js';
import type { Lead, Shards } from '../election/leadership.js';
import { untilSteady, watchLoopLag, whyUnsafe, type LoopLag } from '../election/loop-lag.js';
import { workUntilLost } from '../election/term.js';
import {
  createElectedLeader,
  liveOthers,
  nextNumber,
  observeMembers,
  removeStale,
  type ObservedMember,
  type ObservedMembers,
} from './members.js';
import { createBusyBuckets, createOwnBuckets } from './own-buckets.js';
import { createOwnLease, type OwnLeaseOptions, withMemberRefusals } from './own-lease.js';
import { createPlanner } from './plan.js';
import { errorMessage } from '../../units/failure.js';

export interface MembershipOptions extends OwnLeaseOptions {
  /** The Lease of leader election, which a replica without sharding may hold. */
  readonly leaderLease: Pick<LeaseClient, 'read'>;
  readonly log: Log;
  /** Reloads the state of a bucket; never rejects. */
  readonly loadState: (bucket: number) => Promise<void>;
  /** Stores the unsaved state of a bucket; never rejects. */
  readonly flushState: (bucket: number) => Promise<void>;
  /** Called when the buckets that this process serves have changed. */
  readonly onServed: () => void;
}

/** If the claims have changed, the next write waits this long instead of retryPeriod. */
const URGENT_MS = 100;
const FLUSH_MS = 3000;
const RELEASE_MS = 3000;
/**
 * How long a replica that has lost its membership waits for its own writes before it joins again. It is longer than the
 * deadline of any write.
 */
const LEFTOVER_MS = 30_000;

/**
 * Creates a member, which is one of the replicas that share the scalers. It renews its own Lease, which lists the
 * buckets that it claims. After each renewal it lists the Leases of all members, and changes its claims towards the
 * plan of `planBuckets`. A member owns a bucket once two things have happened: its claim was written, and a list that
 * began later showed no other live member with a claim to the bucket. It keeps the bucket while the Lease is renewed in
 * time. While replicas without sharding have a live leader, it owns no bucket. Source: reliability.md, W27-W35.
 */
export function createMembership(options: MembershipOptions): Shards {
  const { clock, log, times, identity } = options;
  const client = withMemberRefusals(options.client, clock);
  const own = createOwnLease({ ...options, client });
  const leader = createElectedLeader(options.leaderLease, { clock, times });
  const planner = createPlanner(identity, times);
  const busy = createBusyBuckets();
  let members: ObservedMembers = new Map();
  /** When the membership started, on the monotonic clock; null: this process is not a member. */
  let joinedMs: number | null = null;
  let number = 0;
  let lag: LoopLag | null = null;
  let isFailing = false;
  /** The last published claims as a string; null: the last write failed. */
  let published: string | null = null;
  const alarm = createAlarm(clock);

  const buckets = createOwnBuckets({
    load: options.loadState,
    drain: async (bucket) => {
      await busy.untilIdle(bucket);
      await endedWithin(clock, FLUSH_MS, options.flushState(bucket));
    },
    onServed: options.onServed,
    onDrained: () => alarm.ring(),
  });

  const lagMs = (): number => lag?.ms() ?? 0;
  const whyNoWrites = (): string | null => {
    if (joinedMs === null) return 'this replica has no membership Lease';
    return whyUnsafe({ isValid: own.isValid(), lagMs: lagMs(), times });
  };
  const others = (): readonly ObservedMember[] =>
    liveOthers(members, { own: own.name, of: client.name, nowMs: clock.monotonicMs(), times });
  /** Returns a function that says whether another live member claims a bucket. */
  const contests = (): ((bucket: number) => boolean) => {
    const claimed = new Set(others().flatMap(({ lease }) => lease.buckets));
    return (bucket) => claimed.has(bucket);
  };

  const publish = async (signal: AbortSignal): Promise<void> => {
    const claimed = buckets.claims();
    const highest = { own: number, leader: leader.transitions() };
    const next = buckets.hasNew() ? nextNumber(members, highest) : number;
    published = null;
    await own.publish({ buckets: claimed, number: next }, signal);
    published = claimed.join();
    number = next;
    buckets.published(claimed, number);
  };

  /** Lists the members. Returns why the Lease of this member is lost; null: the Lease is held. */
  const observe = async (signal: AbortSignal): Promise<string | null> => {
    const listed = await client.list(signal);
    members = observeMembers(members, listed, { nowMs: clock.monotonicMs(), times });
    return own.found(listed.find(({ name }) => name === own.name) ?? null);
  };

  const rebalance = (): void => {
    const nowMs = clock.monotonicMs();
    const owners = planner.plan({
      others: others(),
      own: buckets.claims().filter((bucket) => buckets.phaseOf(bucket) !== 'draining'),
      isOwned: (bucket) => ['loading', 'serving'].includes(buckets.phaseOf(bucket) ?? ''),
      nowMs,
      joinedMs: joinedMs ?? nowMs,
    });
    for (const bucket of buckets.claims()) if (owners.get(bucket) !== identity) buckets.giveUp(bucket);
    // Members that start at the same time must see each other before they claim buckets. Otherwise each of them would
    // claim all buckets.
    if (nowMs - (joinedMs ?? 0) < times.retryPeriodSeconds * 1000) return;
    const isContested = contests();
    for (const [bucket, owner] of owners)
      if (owner === identity && !isContested(bucket)) buckets.claim(bucket);
  };

  const giveUpAll = (): void => {
    const kept = buckets.claims().filter((bucket) => buckets.phaseOf(bucket) !== 'draining');
    if (kept.length > 0)
      log.info('a replica without sharding leads and scales all targets; releasing all buckets', {
        buckets: kept,
      });
    for (const bucket of kept) buckets.giveUp(bucket);
  };

  const confirm = (): void => {
    const confirmed = buckets.confirm(contests());
    if (confirmed.length > 0) log.info('took over buckets', { buckets: confirmed });
  };

  /**
   * Returns the result of `work`; null: it failed. If several attempts fail in a row, only the first failure is logged.
   */
  const attempt = async <T>(
    work: () => Promise<T>,
    signal: AbortSignal,
  ): Promise<{ readonly result: T } | null> => {
    try {
      return { result: await work() };
    } catch (error) {
      if (signal.aborted) return null;
      if (!(error instanceof KubernetesError)) throw error;
      if (!isFailing) log.warn('failed to renew membership Lease; retrying', { error: error.message });
      isFailing = true;
      return null;
    }
  };

  /** Publishes the claims and lists the members once. Returns why the membership has ended; null: it continues. */
  const step = async (signal: AbortSignal, untilMs: number): Promise<string | null> => {
    const leftMs = untilMs - clock.monotonicMs();
    const renew = (): Promise<void> => withDeadline(clock, { ms: leftMs, parent: signal }, publish);
    const renewAndList = async () => {
      const renewal = await attempt(renew, signal);
      return { renewal, listing: await attempt(() => observe(signal), signal) };
    };
    // The read of the leader's Lease has the deadline of the renewal: a member that can renew its Lease must also see
    // an elected leader.
    const [reading, { renewal, listing }] = await Promise.all([
      attempt(() => leader.observe(signal), signal),
      renewAndList(),
    ]);
    if (signal.aborted) return null;
    if (leader.isLive()) giveUpAll();
    if (listing === null) return null;
    if (listing.result !== null) return listing.result;
    if (renewal !== null && reading !== null) isFailing = false;
    // Confirms no bucket if the process was suspended between the write and the list: other members may have taken
    // over.
    if (!own.isValid()) return null;
    if (reading === null || leader.isLive()) return null;
    if (renewal !== null) confirm();
    rebalance();
    if (buckets.phaseOf(0) === 'serving')
      await removeStale(members, { client, log, own: own.name, nowMs: clock.monotonicMs() }, signal);
    return null;
  };

  /** Renews the Lease. Returns why the Lease was lost; null: `signal` was aborted. */
  const keep = async (signal: AbortSignal): Promise<string | null> => {
    for (let attemptMs = clock.monotonicMs(); ;) {
      const endMs = (own.since()?.monotonicMs ?? 0) + times.renewDeadlineSeconds * 1000;
      const isChanged = published !== null && published !== buckets.claims().join();
      const waitMs = isChanged ? URGENT_MS : times.retryPeriodSeconds * 1000;
      await alarm.sleep(Math.min(attemptMs + waitMs, endMs) - clock.monotonicMs(), signal);
      // Minimum time between two writes. If several buckets are released at once, they then need only one write.
      const earlyMs = attemptMs + URGENT_MS - clock.monotonicMs();
      if (earlyMs > 0) await sleep(clock, earlyMs, signal);
      if (signal.aborted) return null;
      if (!own.isValid())
        return `the membership Lease was not renewed within ${times.renewDeadlineSeconds} s`;
      attemptMs = clock.monotonicMs();
      const lost = await step(signal, endMs);
      if (lost !== null) return lost;
    }
  };

  const join = async (signal: AbortSignal): Promise<boolean> => {
    // Every PATCH of a lost membership must have ended before this process is a member again.
    await endedWithin(clock, LEFTOVER_MS, busy.untilAllIdle());
    if (signal.aborted) return false;
    // If the result of the last write is unknown, only a list shows whether the Lease exists.
    if ((await attempt(() => observe(signal), signal)) === null) return false;
    return (await attempt(() => publish(signal), signal)) !== null && own.isValid();
  };

  const end = (lost: string | null): void => {
    if (joinedMs === null) return;
    joinedMs = null;
    own.forget();
    buckets.clear();
    if (lost !== null) log.warn('membership lost; joining again', { lease: own.name, why: lost });
  };

  const release = async (): Promise<void> => {
    try {
      await withDeadline(clock, { ms: RELEASE_MS }, own.release);
      log.info('membership Lease released', { lease: own.name });
    } catch (error) {
      const message = errorMessage(error);
      log.warn('failed to release membership Lease; other replicas wait until the Lease expires', {
        error: message,
      });
    }
  };

  /** Takes part as a member until the membership is lost or `signal` is aborted. */
  const serve = async (signal: AbortSignal, lead: Lead): Promise<void> => {
    joinedMs = clock.monotonicMs();
    log.info('joined', { lease: own.name });
    const isHeld = await workUntilLost(
      {
        lead,
        keep,
        end,
        onError: (error) => log.error('work of the member failed: internal error', { error }),
      },
      signal,
    );
    if (!isHeld) return;
    if (busy.isIdle()) await release();
    else
      log.warn(
        'the membership Lease is not released, because a change is in flight; other replicas wait until the Lease expires',
      );
  };

  return {
    identity,
    // The owner of bucket 0 is reported as the leader, as in the metrics.
    leader: () =>
      buckets.phaseOf(0) === 'serving'
        ? identity
        : (others().find(({ lease }) => lease.buckets.includes(0))?.lease.spec.holderIdentity ?? null),
    epoch: () => `${number}/${identity}`,
    mayWrite: () => whyNoWrites() === null,
    whyNoWrites,
    isLeading: () => joinedMs !== null,
    healthProblems: () => {
      const since = joinedMs === null ? null : own.since();
      const seconds = since === null ? 0 : (clock.monotonicMs() - since.monotonicMs) / 1000;
      return seconds > times.leaseDurationSeconds + STUCK_SECONDS
        ? [`this replica is a member, but has not renewed its Lease for ${Math.round(seconds)} s`]
        : [];
    },
    untilSteady: () => untilSteady(clock, lagMs),
    run: async (signal, lead) => {
      lag = watchLoopLag(clock);
      try {
        while (!signal.aborted) {
          if (await join(signal)) await serve(signal, lead);
          await sleep(clock, retryDelayMs(clock, times), signal);
        }
      } finally {
        lag.stop();
        lag = null;
      }
    },
    serves: (bucket) => buckets.phaseOf(bucket) === 'serving',
    leadershipOf: (bucket) => {
      const why = (): string | null => whyNoWrites() ?? buckets.whyNoWrites(bucket);
      const epoch = (): string => `${buckets.numberOf(bucket)}/${identity}`;
      return { epoch, mayWrite: () => why() === null, whyNoWrites: why };
    },
    track: busy.track,
    others: () => others().map(({ lease }) => ({ identity: lease.spec.holderIdentity, ...lease })),
  };
}
