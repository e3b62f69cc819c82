import { MAX_TRANSITIONS, microTime } from '../../kubernetes/lease.js';
import type { LeaseSpec, SeenLease } from '../../kubernetes/lease.js';
import type { Clock } from '../../units/clock.js';
import type { Instant } from '../../units/time.js';

/** The times of leader election. leaseDuration > renewDeadline > 1.2 x retryPeriod, which the config ensures. */
export interface ElectionTimes {
  /** How long followers wait for a leader that does not renew. */
  readonly leaseDurationSeconds: number;
  /** How long a leader may write after its last renewal. */
  readonly renewDeadlineSeconds: number;
  /** Interval between two renewals. Candidates wait 1 to 2.2 times as long between attempts. */
  readonly retryPeriodSeconds: number;
}

export interface LeaseObservation {
  readonly rawSpec: string;
  readonly spec: LeaseSpec;
  /** Monotonic time of the first read of this spec by this process. */
  readonly atMs: number;
}

/** Returns the observation after a read. It keeps the time of the first read while the spec is unchanged. */
export function observeLease(
  before: LeaseObservation | null,
  seen: SeenLease,
  nowMs: number,
): LeaseObservation {
  const { rawSpec, spec } = seen;
  return before?.rawSpec === rawSpec ? before : { rawSpec, spec, atMs: nowMs };
}

/**
 * Maximum duration of a Lease, as a multiple of the configured leaseDuration. During a rolling update of the config, a
 * Lease may state a longer duration than the config.
 */
const MAX_DURATIONS = 4;

/**
 * Returns how long a Lease is valid without a renewal, in milliseconds: the duration in the Lease, but at most four
 * times the configured duration, so that a Lease of another client also expires. A duration of 0 is treated as unset,
 * because the API server rejects 0. Source: reliability.md, W16.
 */
export function durationMs(
  { leaseDurationSeconds: seconds }: LeaseSpec,
  { leaseDurationSeconds: own }: ElectionTimes,
): number {
  return Math.min(seconds === null || seconds === 0 ? own : seconds, MAX_DURATIONS * own) * 1000;
}

/**
 * Returns whether a candidate may acquire the Lease: it has no holder, the candidate itself is the holder, or the spec
 * has not changed for the duration of the Lease. The times in the spec are ignored, because they come from another
 * clock. If the Lease is deleted, the caller keeps its last observation, so that a candidate waits in that case, too.
 * Source: reliability.md, W16.
 */
export function mayAcquire(
  seen: LeaseObservation | null,
  {
    identity,
    nowMs,
    times,
  }: { readonly identity: string; readonly nowMs: number; readonly times: ElectionTimes },
): boolean {
  if (seen === null || seen.spec.holderIdentity === '' || seen.spec.holderIdentity === identity) return true;
  return nowMs - seen.atMs >= durationMs(seen.spec, times);
}

/**
 * The renewal loop is stuck if the last renewal is older than leaseDuration and this many seconds. Source:
 * reliability.md, W20.
 */
export const STUCK_SECONDS = 20;

/** Returns the spec for a new term. If no earlier spec is known, `leaseTransitions` starts at 0. */
export function acquiredSpec(
  before: LeaseSpec | null,
  {
    identity,
    now,
    times,
  }: { readonly identity: string; readonly now: Instant; readonly times: ElectionTimes },
): LeaseSpec {
  return {
    holderIdentity: identity,
    leaseDurationSeconds: times.leaseDurationSeconds,
    acquireTime: microTime(now),
    renewTime: microTime(now),
    // The number increases even if the holder is unchanged, so that each term has its own epoch.
    leaseTransitions: before === null ? 0 : (before.leaseTransitions % MAX_TRANSITIONS) + 1,
  };
}

export function renewedSpec(held: LeaseSpec, now: Instant, times: ElectionTimes): LeaseSpec {
  return { ...held, leaseDurationSeconds: times.leaseDurationSeconds, renewTime: microTime(now) };
}

/** Returns the spec of a released Lease, which any candidate may acquire at once. */
export function releasedSpec(held: LeaseSpec, now: Instant): LeaseSpec {
  return { ...held, holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(now) };
}

export interface Moment {
  readonly monotonicMs: number;
  readonly wall: Instant;
}

export function momentOf(clock: Clock): Moment {
  return { monotonicMs: clock.monotonicMs(), wall: clock.now() };
}

/**
 * Returns whether less than `ms` have passed since a moment, on both clocks: the monotonic clock stops while a virtual
 * machine is paused, and the wall clock can be set back. False from exactly `monotonicMs + ms` on, because a term
 * sleeps until then. Source: reliability.md, W17.
 */
export function isWithin(clock: Clock, { monotonicMs, wall }: Moment, ms: number): boolean {
  return clock.monotonicMs() < monotonicMs + ms && clock.now() - wall < ms;
}

export function retryDelayMs(clock: Clock, { retryPeriodSeconds }: ElectionTimes): number {
  return retryPeriodSeconds * 1000 * (1 + 1.2 * clock.random());
}

/** Returns `POD_UUID`. The UUID is random, so that a restarted container is a new candidate. */
export function newIdentity(podName: string, clock: Clock): string {
  const hex = Array.from({ length: 32 }, () => Math.floor(clock.random() * 16).toString(16)).join('');
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`];
  return `${podName}_${[...parts, hex.slice(20)].join('-')}`;
}
